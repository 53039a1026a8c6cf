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
#include "heed/tasks/model_folder.h"
#include "heed/tasks/pretrained_folder.h"
#include "heed/tensor/quantise_rows.h"

namespace heed {
namespace {

DType dtype_of(WeightType type) {
  switch (type) {
    case WeightType::f32:
      return DType::f32;
    case WeightType::bf16:
      return DType::bf16;
    case WeightType::f16:
      return DType::f16;
    case WeightType::int8:
      return DType::i8;
  }
  fail("convert_model: type {} is none", static_cast<int>(type));
}

Var quantised(const Var& weight) {
  const Tensor values = Tensor::empty(DType::i8, {weight.dim(0), weight.dim(1)});
  const Tensor scales = Tensor::empty(DType::f32, {weight.dim(0)});
  quantise_rows(weight, values, scales);
  return Var::narrow(values, scales);
}

// The weight in another type; `where` names it in errors.
Var converted(const Var& weight, DType dtype, const std::string& where) {
  if (weight.dtype() == dtype && weight.blocks() == BlockType::none) return weight;
  if (dtype == DType::f32) return Var::parameter(widened(weight));
  if (dtype == DType::i8) return quantised(weight);
  const Tensor rounded = weight.value().to(dtype);
  check_finite(rounded, fmt::format("{}: as {}", where, name_of(dtype)));
  return Var::narrow(rounded);
}

ParameterList converted(const ModelFolder& model, DType dtype, bool own, const std::string& file) {
  ListedParameters listed;
  make_model(listed, model.config);
  ParameterList list = model.parameters;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!listed.shapes()[i].is_weight) continue;
    const std::string where = fmt::format("{}: {}", file, list[i].name);
    Var& weight = list[i].var;
    const bool packed = weight.blocks() != BlockType::none;
    const bool rounds_twice = dtype != DType::f32 && (packed || (is_narrow(weight.dtype()) && weight.dtype() != dtype));
    HEED_CHECK(!rounds_twice || !own,
               "{}: is {} already, and would be rounded twice: convert the f32 model that it was made of", where,
               packed ? name_of(weight.blocks()) : name_of(weight.dtype()));
    weight = converted(rounds_twice ? Var(widened(weight)) : weight, dtype, where);
  }
  return list;
}

}  // namespace

void convert_model(const std::filesystem::path& model, const ConvertOptions& options,
                   const std::filesystem::path& out) {
  const ModelFolder loaded = load_model_folder(model);
  const bool own = !is_pretrained(model);
  const std::filesystem::path weights = own ? model / "model.safetensors" : model;
  const ParameterList parameters = converted(loaded, dtype_of(options.type), own, weights.string());
  FolderWriter folder(out);
  save_parameters(folder.path() / "model.safetensors", parameters,
                  own ? texts_of(open_safetensors(weights).metadata()) : std::map<std::string, std::string>());
  save_vocabularies(folder.path(), *loaded.source_vocabulary, *loaded.target_vocabulary);
  save_model_config(folder.path(), loaded.config, loaded);
  folder.commit();
}

}  // namespace heed
