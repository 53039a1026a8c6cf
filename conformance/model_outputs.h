// What a model makes of a case's inputs (docs/conformance.md), in the shapes of the arrays that state it.
//
//   ModelOutputs outputs(folder, opened);
//   const Array got = outputs.of(item, "logits", stated);
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "array.h"
#include "heed/io/json.h"
#include "heed/pretrained/pretrained_model.h"

namespace heed::conformance {

// `folder` holds the case's files. The model outlives it.
class ModelOutputs {
 public:
  ModelOutputs(const std::filesystem::path& folder, const PretrainedModel& opened);

  // The output (output_named) of a case, of as many axes as `like` has. Throws Skip for one that heed does not have.
  Array of(const Json& item, const std::string& name, const Array& like);

 private:
  using Ids = std::vector<std::int32_t>;

  // The key of the rows of a decoder that a case has, and the number of the first one.
  struct Rows {
    const char* key;
    Index first;
  };

  Rows decoder_rows(const Json& item) const;
  Array states_of(const Json& item, const std::string& name, const Array& like);
  Array maps_of(const Json& item, const std::string& name, const Array& like);
  SequenceBatch sequences_of(const Json& item) const;
  Ids decoder_input(const Json& item) const;
  Var encoded(const Json& item, AttentionObserver* observer = nullptr);
  Array of_encoder(const Json& item, const std::string& name, const Array& like);
  // `hidden` is [1, L, width], and `positions` the key of the rows that the case has.
  Array of_classes(const Json& item, const std::string& name, const Array& like, const Var& hidden,
                   const char* positions);

  std::filesystem::path folder_;
  const Transformer& model_;
  const TransformerConfig& config_;
  std::int32_t begin_;
  Workspace workspace_;
};

}  // namespace heed::conformance
