// A model as a folder of heed's own, with its weights in the type that is asked for.
//
//   convert_model("model", {.type = Precision::int8}, "model-int8");
//   load_model_folder("model-int8");               // infers from them as they are
//   convert_model("gpt2", {.type = Precision::f32}, "model");           // another toolkit's, as heed's own
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/progress.h"
#include "heed/layers/parameter_scope.h"
#include "heed/tasks/text_codec.h"
#include "heed/tensor/precision.h"

namespace heed {

struct ConvertOptions {
  Precision type = Precision::bf16;
  Languages languages = {};  // that the new folder has for its own

  template <typename V>
  friend void visit_fields(ConvertOptions& o, V&& visit) {
    visit("type", o.type, "What the weights become: f32, bf16, f16, or int8 with a scale for each output.");
  }
};

// The parameters, which have these shapes, with weights (ParameterShape::is_weight) of the type. One that has it
// already stays as it is; a narrow one is widened before it is rounded again. `name` is what errors call the list.
// Progress counts parameters. Throws heed::Error for a weight that the type cannot hold.
ParameterList with_weights(const ParameterList& parameters, std::span<const ParameterShape> shapes, Precision type,
                           std::string_view name, const Progress& progress = {});

// Writes `out`, a folder of heed's own with all of the model at `model`, one that sees or hears included, and weights
// (ParameterShape::is_weight) of the type: 16 bits rounded to nearest, ties to even; int8 as quantise_rows does. All
// else is as it was, also what it says of texts and their vectors (sentence_modules.h, sentence_texts.h), whose layers
// keep their type; what training keeps stays behind. Weights of that type stay as they are, and narrow ones become f32
// as inference reads them, so that the model's answers keep their bits. Parameters that several layers of another's
// model share (T5's distances, ALBERT's layers) are written for each. `out` is there whole or not at all. Throws
// heed::Error where `out` is there already or is no place for a folder, for what is no model, for a weight that the
// type cannot hold, and for one of heed's own that is narrow already, which would be rounded twice; others are
// published narrow, and rounded from there. Progress counts parameters, and is told of all of them once more before
// `out` comes to be there: what it throws leaves nothing behind.
void convert_model(const std::filesystem::path& model, const ConvertOptions& options, const std::filesystem::path& out,
                   const Progress& progress = {});

}  // namespace heed
