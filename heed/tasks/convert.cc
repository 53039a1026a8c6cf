#include "heed/tasks/convert.h"

#include <map>
#include <string>

#include "heed/base/check.h"
#include "heed/base/folder_writer.h"
#include "heed/io/fields.h"
#include "heed/io/file_tensor.h"
#include "heed/layers/given_parameters.h"
#include "heed/layers/listed_parameters.h"
#include "heed/layers/saved_parameters.h"
#include "heed/pretrained/pixel_values.h"
#include "heed/pretrained/speech_generation.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/pretrained_folder.h"
#include "heed/tasks/sentence_modules.h"
#include "heed/tasks/sentence_texts.h"
#include "heed/tensor/quantise_rows.h"

namespace heed {
namespace {

Var quantised(const Var& weight) {
  const Tensor values = Tensor::empty(DType::i8, {weight.dim(0), weight.dim(1)});
  const Tensor scales = Tensor::empty(DType::f32, {weight.dim(0)});
  quantise_rows(weight, values, scales);
  return Var::narrow(values, scales);
}

// Bytes of blocks are i8 by their type, and no weight of int8.
bool has_type(const Var& weight, DType dtype) { return weight.dtype() == dtype && weight.blocks() == BlockType::none; }

// Whether the weight was rounded once, and would be again.
bool rounds_again(const Var& weight, DType dtype) {
  const bool is_narrowed = is_narrow(weight.dtype()) || weight.blocks() != BlockType::none;
  return dtype != DType::f32 && is_narrowed && !has_type(weight, dtype);
}

// The weight in another type; `where` names it in errors.
Var converted(const Var& weight, DType dtype, const std::string& where) {
  if (has_type(weight, dtype)) return weight;
  if (dtype == DType::f32) return Var::parameter(widened(weight));
  if (dtype == DType::i8) return quantised(weight);
  const Tensor rounded = weight.value().to(dtype);
  check_finite(rounded, fmt::format("{}: as {}", where, name_of(dtype)));
  return Var::narrow(rounded);
}

// A weight of heed's own that is narrow already would be rounded twice.
void refuse_narrow(const ParameterList& parameters, DType dtype, const std::string& file) {
  for (const auto& [name, weight] : parameters) {
    HEED_CHECK(!rounds_again(weight, dtype),
               "{}: {}: is {} already, and would be rounded twice: convert the f32 model that it was made of", file,
               name, name_of(weight.dtype()));
  }
}

// With the vocabulary of a model that hears, which has no template around a text; that of one that sees has none.
ModelFolder open_model(const std::filesystem::path& path, const Languages& languages) {
  const ModelConfig config = describe_model_folder(path);
  if (handles_text(config)) return load_model_folder(path, languages);
  HEED_CHECK(languages.source.empty() && languages.target.empty(), "{}: reads no text, so it has no languages",
             path.string());
  ModelFolder model;
  static_cast<BareModel&>(model) = load_bare_model(path);
  if (config.transformer.signal.kind == SignalKind::sound) {
    const Vocabularies of = vocabularies_of(path);
    model.source_vocabulary = of.source, model.target_vocabulary = of.target;
  }
  return model;
}

// How a picture becomes numbers, or what a model that hears is asked.
void copy_signal_options(SignalKind kind, const std::filesystem::path& from, const std::filesystem::path& to) {
  if (kind == SignalKind::picture) {
    save_pixel_options(to, read_pixel_options(from));
  } else {
    save_speech_generation(to, read_speech_generation(from));
  }
}

}  // namespace

ParameterList with_weights(const ParameterList& parameters, std::span<const ParameterShape> shapes, Precision type,
                           std::string_view name, const Progress& progress) {
  const DType dtype = kept_as(type, DType::f32);
  ParameterList list = parameters;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (progress) progress(static_cast<Index>(i));
    if (!shapes[i].is_weight) continue;
    Var& weight = list[i].var;
    const std::string where = fmt::format("{}: {}", name, list[i].name);
    weight = converted(rounds_again(weight, dtype) ? Var(widened(weight)) : weight, dtype, where);
  }
  return list;
}

void convert_model(const std::filesystem::path& model, const ConvertOptions& options, const std::filesystem::path& out,
                   const Progress& progress) {
  const bool own = !is_pretrained(model);
  const ModelFolder loaded = open_model(model, options.languages);
  const std::filesystem::path weights = own ? model / "model.safetensors" : model;
  if (own) refuse_narrow(loaded.parameters, kept_as(options.type, DType::f32), weights.string());
  ListedParameters listed;
  make_model(listed, loaded.config);
  const ParameterList parameters =
      with_weights(loaded.parameters, listed.shapes(), options.type, weights.string(), progress);
  FolderWriter folder(out);
  save_parameters(folder.path() / "model.safetensors", parameters,
                  own ? texts_of(open_safetensors(weights).metadata()) : std::map<std::string, std::string>());
  if (loaded.target_vocabulary) save_vocabularies(folder.path(), *loaded.source_vocabulary, *loaded.target_vocabulary);
  save_model_config(folder.path(), loaded.config, loaded);
  if (!handles_text(loaded.config)) copy_signal_options(loaded.config.transformer.signal.kind, model, folder.path());
  copy_sentence_modules(model, folder.path());
  copy_sentence_texts(model, folder.path());
  if (progress) progress(std::ssize(parameters));
  folder.commit();
}

}  // namespace heed
