#include "heed/tasks/pretrained_vocabulary.h"

#include <algorithm>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/json.h"
#include "heed/pretrained/ctranslate2.h"
#include "heed/text/open_tokenizer.h"
#include "heed/text/sentencepiece_tokenizer.h"
#include "heed/text/tokenizer/tokenizer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// CTranslate2 reads texts that are pieces already, with spaces between them.
std::shared_ptr<const Vocabulary> pieces_between_spaces(const fs::path& folder, std::string_view side) {
  const std::vector<std::string> pieces = ctranslate2_pieces(folder, side);
  std::vector<Json::Member> ids;
  for (std::size_t id = 0; id < pieces.size(); ++id) ids.emplace_back(pieces[id], static_cast<Index>(id));
  const Json tokenizer = Json::object(
      {{"added_tokens", Json::array()},
       {"pre_tokenizer", Json::object({{"type", "WhitespaceSplit"}})},
       {"model",
        Json::object({{"type", "WordLevel"}, {"vocab", Json::object(std::move(ids))}, {"unk_token", "<unk>"}})}});
  return std::make_shared<Tokenizer>(Tokenizer::from_json(tokenizer.dump(), folder.string()));
}

// The only file of the folder with this ending; nothing where there is none or there are several.
fs::path only_file(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  return found.size() == 1 ? found.front() : fs::path();
}

bool has_file_of(const fs::path& folder, std::string_view side) {
  return file_exists(folder / (std::string(side) + "_vocabulary.txt")) ||
         file_exists(folder / (std::string(side) + "_vocabulary.json"));
}

}  // namespace

PretrainedVocabularies open_vocabularies(const fs::path& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  const fs::path folder = is_folder ? path : path.parent_path();
  if (file_exists(folder / "model.bin") && (has_file_of(folder, "target") || has_file_of(folder, "shared"))) {
    std::shared_ptr<const Vocabulary> source = pieces_between_spaces(folder, "source");
    return {source, has_file_of(folder, "shared") ? source : pieces_between_spaces(folder, "target")};
  }
  if (has_tokenizer(folder)) {
    const std::shared_ptr<const Vocabulary> source = open_tokenizer(folder, TokenizerSide::source);
    const bool two = file_exists(folder / "source.spm") && file_exists(folder / "target.spm");
    return {source, two ? open_tokenizer(folder, TokenizerSide::target) : source};
  }
  const fs::path model = only_file(folder, ".model");
  HEED_CHECK(!model.empty(), "{}: has no tokenizer: neither tokenizer.json nor another that heed reads",
             folder.string());
  const auto joint = std::make_shared<SentencePieceTokenizer>(SentencePieceTokenizer::load(model));
  return {joint, joint};
}

}  // namespace heed
