#include "heed/io/ctranslate2_names.h"

#include <string_view>
#include <utility>

namespace heed {
namespace {

void replace_first(std::string& name, std::string_view theirs, std::string_view ours) {
  if (const std::size_t at = name.find(theirs); at != std::string::npos) name.replace(at, theirs.size(), ours);
}

}  // namespace

// In CTranslate2's order: conv1d_1 before conv1d, of which the first has no number.
std::string name_of_today(std::string name) {
  static constexpr std::pair<std::string_view, std::string_view> kParts[] = {{"transformer/", ""},
                                                                             {":0", ""},
                                                                             {"w_embs", "embeddings/weight"},
                                                                             {"kernel", "weight"},
                                                                             {"LayerNorm", "layer_norm"},
                                                                             {"dense", "projection"},
                                                                             {"conv1d_", "linear_"},
                                                                             {"conv1d", "linear_0"}};
  for (const auto& [theirs, ours] : kParts) replace_first(name, theirs, ours);
  if (name.find("encoder") != std::string::npos) {
    replace_first(name, "multi_head", "self_attention");
  } else {
    replace_first(name, "masked_multi_head", "self_attention");
    replace_first(name, "multi_head", "attention");
  }
  return name;
}

}  // namespace heed
