#include "heed/layers/parameter_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/base/check.h"

namespace heed {
namespace {

// "a.b", or "b" where the path is empty.
std::string join_path(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

}  // namespace

Var ParameterSource::bind(ParameterShape wanted, const Initial& initial) {
  HEED_CHECK(std::ranges::all_of(wanted.shape, [](Index extent) { return extent >= 0; }),
             "ParameterScope: {} must not have negative extents, but is to be [{}]", wanted.name,
             fmt::join(wanted.shape, ", "));
  HEED_CHECK(!wanted.is_weight || wanted.shape.size() == 2,
             "ParameterScope: {} is a weight and must be a matrix, but is [{}]", wanted.name,
             fmt::join(wanted.shape, ", "));
  HEED_CHECK(names_.insert(wanted.name).second, "ParameterScope: there is a parameter {} already", wanted.name);
  Var var;
  if (!only_lists()) {
    var = value(wanted, initial);
    list_.push_back({wanted.name, var});
  }
  shapes_.push_back(std::move(wanted));
  return var;
}

ParameterScope ParameterScope::operator/(std::string_view name) const { return {*source_, join_path(path_, name)}; }

ParameterScope ParameterScope::operator/(Index number) const { return *this / std::to_string(number); }

Var ParameterScope::weight(std::string_view name, Index outputs, Index inputs, const Initial& initial) const {
  return source_->bind({join_path(path_, name), {outputs, inputs}, /*is_weight=*/true}, initial);
}

Var ParameterScope::matrix(std::string_view name, Index rows, Index columns, const Initial& initial) const {
  return tensor(name, {rows, columns}, initial);
}

Var ParameterScope::vector(std::string_view name, Index size, const Initial& initial) const {
  return tensor(name, {size}, initial);
}

Var ParameterScope::tensor(std::string_view name, std::initializer_list<Index> shape, const Initial& initial) const {
  return source_->bind({join_path(path_, name), shape, /*is_weight=*/false}, initial);
}

}  // namespace heed
