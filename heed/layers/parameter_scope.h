// How a layer gets its parameters: it asks its scope for each, once, by name, shape and initial values. The scope knows
// the path that stands before the name, and the source that draws the value at random, loads it, or only notes what was
// asked for.
//
//   DrawnParameters drawn(Rng(1));                       // or LoadedParameters, or ListedParameters
//   Linear linear(drawn, 256, 512);                      // "weight" and "bias"
//   Norm norm(ParameterScope(drawn) / "encoder" / "norm", NormKind::layer, 512);
//                                          // "encoder.norm.weight" and "encoder.norm.bias"
//   save_parameters("model.safetensors", drawn.list());
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "heed/base/error.h"
#include "heed/layers/initialise.h"
#include "heed/layers/parameters.h"

namespace heed {

// Where values come from. What it has bound is all that optimisers, files and gradient checks need to know of a model.
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;
  ParameterSource(const ParameterSource&) = delete;
  ParameterSource& operator=(const ParameterSource&) = delete;

  // Binds one parameter; empty where the source only lists. Throws heed::Error where one of this name is bound already,
  // for a negative extent, for a weight that is no matrix, and where the source has no such value.
  Var bind(ParameterShape wanted, const Initial& initial);

  // What has been bound, in this order; the list is empty where the source only lists.
  const std::vector<ParameterShape>& shapes() const { return shapes_; }
  const ParameterList& list() const { return list_; }
  // Whether layers get no values, so that they are of no use but to be listed.
  virtual bool only_lists() const { return false; }

 protected:
  ParameterSource() = default;

 private:
  // The value of a parameter: f32, or narrow (Var::narrow) where it is a weight.
  virtual Var value(const ParameterShape& wanted, const Initial& initial) = 0;

  std::vector<ParameterShape> shapes_;
  ParameterList list_;
  std::unordered_set<std::string> names_;
};

// A path within a source: what a layer is constructed with. A layer may keep its path, which names it to observers, but
// not the scope.
class ParameterScope {
 public:
  // The outermost scope, whose path is empty.
  ParameterScope(ParameterSource& source) : source_(&source) {}  // NOLINT: a source is used as its outermost scope

  // The scope within this one: scope / "layers" / 3.
  ParameterScope operator/(std::string_view name) const;
  ParameterScope operator/(Index number) const;
  const std::string& path() const { return path_; }

  // The parameter `name` of this scope: a weight is for operators that take one in any type (heed/ops/weight.h); all
  // others are f32.
  Var weight(std::string_view name, Index outputs, Index inputs, const Initial& initial) const;
  Var matrix(std::string_view name, Index rows, Index columns, const Initial& initial) const;
  Var vector(std::string_view name, Index size, const Initial& initial) const;
  Var tensor(std::string_view name, std::initializer_list<Index> shape, const Initial& initial) const;

  // make(), for what is computed and not learned, such as a table of positions; nothing of it where the source only
  // lists, so that extents of any size can be listed.
  template <typename Make>
  auto computed(Make make) const {
    using Computed = decltype(make());
    return source_->only_lists() ? Computed{} : make();
  }

 private:
  ParameterScope(ParameterSource& source, std::string path) : source_(&source), path_(std::move(path)) {}

  ParameterSource* source_;
  std::string path_;
};

}  // namespace heed
