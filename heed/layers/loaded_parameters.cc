#include "heed/layers/loaded_parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/io/file_tensor.h"
#include "heed/layers/saved_parameters.h"

namespace heed {

LoadedParameters::LoadedParameters(const std::filesystem::path& path, std::span<const ParameterShape> wanted)
    : file_(path.string()) {
  const Checkpoint file = open_safetensors(path);
  check_parameters(file, wanted);
  for (const auto& item : file.tensors()) {
    Tensor tensor = file.tensor(item.first);
    check_finite(tensor, fmt::format("{}: {}", file_, printable(item.first)));
    tensors_.emplace(item.first, std::move(tensor));
  }
}

Var LoadedParameters::value(const ParameterShape& wanted, const Initial&) {
  const auto found = tensors_.find(wanted.name);
  HEED_CHECK(found != tensors_.end(), "{}: has no tensor {}", file_, wanted.name);
  const View& view = found->second.view();
  HEED_CHECK(std::ranges::equal(std::span(view.shape).first(static_cast<std::size_t>(view.rank)), wanted.shape) &&
                 (wanted.is_weight || !is_narrow(view.dtype)),
             "{}: {} is {}, but the model needs [{}]", file_, wanted.name, describe(view),
             fmt::join(wanted.shape, ", "));
  if (!is_narrow(view.dtype)) return Var::parameter(found->second);
  const auto scales = tensors_.find(scales_of(wanted.name));
  return Var::narrow(found->second, scales == tensors_.end() ? Tensor() : scales->second);
}

}  // namespace heed
