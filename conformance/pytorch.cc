#include "pytorch.h"

#include <cmath>

#include "compare.h"
#include "heed/base/check.h"
#include "heed/io/json.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/transformer_block.h"

namespace heed::conformance {
namespace {

// The largest extent of these cases; they are for reading.
constexpr Index kMostItems = 4096;

Index extent(const Json& list) {
  if (list.size() < 1 || list.size() > kMostItems) list.refuse("must be a list of 1 to 4096 items");
  return list.size();
}

// Layers' inputs and outputs in the file are [L, B, E]; heed's are [B, L, E].
Tensor batch_first(const Json& json, Index width) {
  const Index length = extent(json), batch = extent(json[Index{0}]);
  const Tensor tensor = make_array(DType::f32, {batch, length, width}).elements.reshape({batch, length, width});
  for (Index l = 0; l < length; ++l) {
    if (json[l].size() != batch) json[l].refuse("must have an item for each sentence");
    for (Index b = 0; b < batch; ++b) {
      const std::vector<double> row = json[l][b].number_list();
      if (static_cast<Index>(row.size()) != width) json[l][b].refuse("must have d_model numbers");
      for (Index e = 0; e < width; ++e)
        tensor.at<float>({b, l, e}) = static_cast<float>(row[static_cast<std::size_t>(e)]);
    }
  }
  return tensor;
}

// [B, L] with 1 for "left out", as a boolean mask [B, 1, 1, L] with true for "attend".
Mask padding(const Json& json) {
  if (json.is_null()) return {};
  const Index batch = extent(json), length = extent(json[Index{0}]);
  const Tensor allowed = make_array(DType::boolean, {batch, length}).elements.reshape({batch, 1, 1, length});
  for (Index b = 0; b < batch; ++b) {
    const std::vector<Index> row = json[b].integer_list(0, 1);
    if (static_cast<Index>(row.size()) != length) json[b].refuse("must have an item for each position");
    for (Index l = 0; l < length; ++l) allowed.at<bool>({b, 0, 0, l}) = row[static_cast<std::size_t>(l)] == 0;
  }
  return Mask::boolean(allowed);
}

// Every parameter is cos(0), cos(1), ... row-major.
void set_cosines(const ParameterList& parameters) {
  for (const auto& [name, var] : parameters) {
    float* value = var.value().data<float>();
    for (Index i = 0; i < var.value().size(); ++i) value[i] = static_cast<float>(std::cos(static_cast<double>(i)));
  }
}

std::string run_case(const Json& item, const TransformerBlockOptions& shape, double rtol, double atol) {
  TransformerBlockOptions options = shape;
  const std::string activation = item["activation"].string(), kind = item["kind"].string();
  if (activation != "gelu" && activation != "relu") item["activation"].refuse("must be gelu or relu");
  if (kind != "encoder" && kind != "decoder") item["kind"].refuse("must be encoder or decoder");
  options.cross = kind == "decoder";
  options.activation = activation == "gelu" ? Activation::gelu : Activation::relu;
  Rng rng(1);
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Mask mask = padding(item["key_padding_mask"]), memory_mask = padding(item["memory_key_padding_mask"]);
  Var x(batch_first(item["input"], shape.width));
  for (Index layer = item["layers"].integer(1, 100); layer > 0; --layer) {
    DrawnParameters drawn(rng);
    const TransformerBlock block(drawn, options.cross ? AttentionKind::decoder : AttentionKind::encoder, options);
    set_cosines(drawn.list());
    Var memory;
    if (options.cross) memory = block.project_memory(context, Var(batch_first(item["memory"], shape.width)));
    x = block.forward(context, x, {.mask = mask}, memory, memory_mask);
  }
  DrawnParameters drawn(rng);
  if (item["final_norm"].boolean()) x = Norm(drawn, NormKind::layer, shape.width).forward(context, x);
  const Tensor got = x.value(), expected = batch_first(item["expected"], shape.width);
  const auto array = [](const Tensor& t) { return with_shape(t, {t.dim(0), t.dim(1), t.dim(2)}); };
  const std::string differs = difference(array(got), array(expected), rtol, atol);
  return differs.empty() ? differs : "the output, [B, L, E], " + differs;
}

}  // namespace

void run_pytorch_cases(const std::filesystem::path& file, Report& report) {
  const Json json = read_json(file);
  const TransformerBlockOptions shape{.width = json["d_model"].integer(1, kMostItems),
                                      .heads = json["heads"].integer(1, kMostItems),
                                      .ffn_width = json["d_ff"].integer(1, kMostItems)};
  const double rtol = json["tolerance"]["rtol"].number(), atol = json["tolerance"]["atol"].number();
  for (const Json& item : json["cases"].items()) {
    report.add(item["name"].string(), [&] { return run_case(item, shape, rtol, atol); });
  }
}

}  // namespace heed::conformance
