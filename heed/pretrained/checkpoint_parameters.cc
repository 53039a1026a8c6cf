#include "heed/pretrained/checkpoint_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/io/file_tensor.h"
#include "heed/pretrained/name_pattern.h"
#include "heed/tensor/row_storage.h"

namespace heed {
namespace {

constexpr std::size_t kMostNamed = 8;  // tensors in one error
// What classes with another head may call the model below it, whatever the language model's class calls it.
constexpr std::string_view kBelowHead = "transformer.";

std::span<const Index> shape_of(const StoredTensor& stored) {
  return std::span(stored.shape).first(static_cast<std::size_t>(stored.rank));
}

// Without extents of 1: a bias may be stored as [1, V], a kernel as [Out, In, 1].
std::vector<Index> squeezed(std::span<const Index> shape) {
  std::vector<Index> kept;
  std::ranges::copy_if(shape, std::back_inserter(kept), [](Index extent) { return extent != 1; });
  return kept;
}

// Whether what is stored is the parameter but for extents of 1, or for axes of inputs that are one axis here.
bool has_shape(std::span<const Index> stored, const std::vector<Index>& wanted) {
  if (squeezed(stored) == squeezed(wanted)) return true;
  if (wanted.size() != 2 || stored.size() < 3 || stored[0] != wanted[0]) return false;
  Index inputs = 1;
  for (Index extent : stored.subspan(1)) inputs *= extent;
  return inputs == wanted[1];
}

// Parameters have at most three axes.
Tensor in_shape(const Tensor& tensor, std::span<const Index> shape) {
  if (shape.size() == 1) return tensor.reshape({shape[0]});
  if (shape.size() == 2) return tensor.reshape({shape[0], shape[1]});
  return tensor.reshape({shape[0], shape[1], shape[2]});
}

// Of a tensor's rows, those of the parameter.
struct UsedRows {
  Index begin, end;
  Index size() const { return end - begin; }
  Tensor of(const Tensor& all) const { return all.rows(begin, end); }  // the same memory
};
UsedRows used_rows(const TensorRule& rule, Index rows) {
  const Index first = std::min(rule.first_row, rows);
  return {first, rule.rows == 0 ? rows : std::min(first + rule.rows, rows)};
}

// As f32, whatever it is kept in.
Tensor widened(const Tensor& values, const Tensor& scales) {
  if (values.dtype() != DType::i8 || scales.is_empty()) return values.to(DType::f32);
  const Weight weight(values.view(), scales.view());
  const Tensor wide = Tensor::empty(DType::f32, {values.dim(0), values.dim(1)});
  widen_rows(weight, 0, values.dim(0), wide.data<float>());
  return wide;
}

template <typename T>
void transpose(const T* from, Index rows, Index columns, T* to) {
  constexpr Index kBlock = 32;  // of columns, so that what is read stays in cache
  for (Index c0 = 0; c0 < columns; c0 += kBlock) {
    for (Index r = 0; r < rows; ++r) {
      for (Index c = c0; c < std::min(c0 + kBlock, columns); ++c) to[c * rows + r] = from[r * columns + c];
    }
  }
}

// [In, Out] as [Out, In].
Tensor transposed(const Tensor& matrix) {
  const Tensor turned = Tensor::empty(matrix.dtype(), {matrix.dim(1), matrix.dim(0)});
  if (size_of(matrix.dtype()) == 2) {
    transpose(matrix.data<std::uint16_t>(), matrix.dim(0), matrix.dim(1), turned.data<std::uint16_t>());
  } else {
    transpose(matrix.data<float>(), matrix.dim(0), matrix.dim(1), turned.data<float>());
  }
  return turned;
}

// A kernel [Out, In, Taps] as [Out, Taps * In].
Tensor with_taps_first(const Tensor& kernel) {
  const Index inputs = kernel.dim(1), taps = kernel.dim(2);
  const Tensor turned = Tensor::empty(kernel.dtype(), {kernel.dim(0), taps * inputs});
  for (Index row = 0; row < kernel.dim(0); ++row) {
    const Index first = row * inputs * taps;
    if (size_of(kernel.dtype()) == 2) {
      transpose(kernel.data<std::uint16_t>() + first, inputs, taps, turned.data<std::uint16_t>() + first);
    } else {
      transpose(kernel.data<float>() + first, inputs, taps, turned.data<float>() + first);
    }
  }
  return turned;
}

// Rows [heads, 3, width of a head] as [3, heads, width of a head].
Tensor with_heads_together(const Tensor& stacked, Index heads) {
  const Tensor sorted = Tensor::empty_like(stacked.view());
  const Index bytes = stacked.size() / (3 * heads) * size_of(stacked.dtype());
  const char* from = stacked.view().as<char>();
  char* to = sorted.view().as<char>();
  for (Index part = 0; part < 3; ++part) {
    for (Index head = 0; head < heads; ++head, to += bytes) {
      std::memcpy(to, from + (3 * head + part) * bytes, static_cast<std::size_t>(bytes));
    }
  }
  return sorted;
}

}  // namespace

CheckpointParameters::CheckpointParameters(const Checkpoint& file, std::vector<TensorRule> rules, std::string prefix,
                                           Index heads)
    : file_(file), rules_(std::move(rules)), prefix_(std::move(prefix)), heads_(heads) {}

void CheckpointParameters::check_used(std::span<const std::string> paths, std::span<const std::string> ignored) const {
  std::vector<std::string> unknown, stars;
  std::size_t more = 0;
  for (const auto& [name, stored] : file_.tensors()) {
    const bool is_below = name.starts_with(kBelowHead);
    const bool is_part = std::ranges::any_of(paths, [&, tensor = &name](const std::string& path) {
      return begins_name(path, *tensor, stars) || begins_name(path, prefix_ + *tensor, stars) ||
             (is_below && begins_name(path, prefix_ + tensor->substr(kBelowHead.size()), stars));
    });
    const bool is_ignored =
        std::ranges::any_of(ignored, [&, tensor = &name](const std::string& end) { return tensor->ends_with(end); });
    if (!is_part || is_ignored || used_.contains(name)) continue;
    unknown.size() < kMostNamed ? unknown.push_back(printable(name)) : void(++more);
  }
  HEED_CHECK(unknown.empty(), "{}: has tensors that a model of its configuration has not: {}{}", file_.name(),
             fmt::join(unknown, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

// Whichever of its names the file has: without the prefix or with another, and of norms from before PyTorch, gamma and
// beta.
std::string CheckpointParameters::in_file(std::string name) const {
  if (name.empty() || file_.has(name)) return name;
  std::string spelled = name;
  if (name.ends_with("Norm.weight")) spelled.replace(name.size() - 6, 6, "gamma");
  if (name.ends_with("Norm.bias")) spelled.replace(name.size() - 4, 4, "beta");
  if (file_.has(spelled)) return spelled;
  if (!name.starts_with(prefix_)) return name;
  for (const std::string& below : {name.substr(prefix_.size()), spelled.substr(prefix_.size())}) {
    for (std::string other : {below, std::string(kBelowHead) + below}) {
      if (file_.has(other)) return other;
    }
  }
  return name;
}

std::optional<CheckpointParameters::Found> CheckpointParameters::rule_for(const std::string& parameter) const {
  std::vector<std::string> stars;
  for (const TensorRule& rule : rules_) {
    const std::optional<std::string> rest = begins_name(rule.parameter, parameter, stars);
    if (!rest) continue;
    Found found{&rule, {}};
    for (const std::string& tensor : rule.tensors) {
      std::string name = tensor.empty() ? tensor : fill_stars(tensor, stars) + *rest;
      found.names.push_back(in_file(std::move(name)));
    }
    for (const std::string& other : rule.otherwise) {
      const std::string name = in_file(fill_stars(other, stars) + *rest);
      if (!file_.has(found.names.front()) && file_.has(name)) found.names.front() = name;
    }
    return found;
  }
  return {};
}

CheckpointParameters::Found CheckpointParameters::find(const std::string& parameter) const {
  std::optional<Found> found = rule_for(parameter);
  HEED_CHECK(found, "{}: the family has no tensor for the parameter {}", file_.name(), parameter);
  return *std::move(found);
}

bool CheckpointParameters::has(const std::string& parameter) const {
  const std::optional<Found> found = rule_for(parameter);
  return found && has_all(found->names);
}

bool CheckpointParameters::has_all(std::span<const std::string> names) const {
  return !names.empty() &&
         std::ranges::all_of(names, [&](const std::string& name) { return name.empty() || file_.has(name); });
}

void CheckpointParameters::check_there(std::span<const ParameterShape> wanted) const {
  std::vector<std::string> named;
  std::set<std::string> missing;  // parameters may share a tensor
  for (const ParameterShape& parameter : wanted) {
    const auto [rule, names] = find(parameter.name);
    for (const std::string& name : names) {
      if (rule->computed != nullptr) continue;
      if (name.empty() || file_.has(name) || !missing.insert(name).second) continue;
      if (named.size() < kMostNamed) named.push_back(printable(name));
    }
  }
  const std::size_t more = missing.size() - named.size();
  HEED_CHECK(missing.empty(), "{}: has no tensor {}{}, which a model of its configuration has", file_.name(),
             fmt::join(named, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

Var CheckpointParameters::value(const ParameterShape& wanted, const Initial&) {
  const auto [rule, names] = find(wanted.name);
  if (rule->computed && !has_all(names)) return Var::parameter(rule->computed());
  used_.insert(names.begin(), names.end());
  const bool as_it_is = names.size() == 1 && !names.front().empty() && rule->layout == TensorLayout::as_it_is;
  return as_it_is ? alone(*rule, names.front(), wanted) : adapted(*rule, names, wanted);
}

Var CheckpointParameters::alone(const TensorRule& rule, const std::string& name, const ParameterShape& wanted) const {
  const StoredTensor& stored = file_.tensors().find(name)->second;
  std::vector<Index> shape(shape_of(stored).begin(), shape_of(stored).end());
  const UsedRows used = used_rows(rule, shape.empty() ? 0 : shape.front());
  const bool is_part = !shape.empty() && used.size() < shape.front();
  if (is_part) shape.front() = used.size();
  HEED_CHECK(has_shape(shape, wanted.shape), "{}: {}{} is [{}], but the model needs [{}]", file_.name(),
             printable(name), is_part ? fmt::format(" from row {} on", used.begin) : "", fmt::join(shape, ", "),
             fmt::join(wanted.shape, ", "));
  const auto rows_of = [&](const Tensor& all) { return is_part && !all.is_empty() ? used.of(all) : all; };
  HEED_CHECK(is_floating(stored.dtype()) || stored.dtype() == DType::i8, "{}: {} is of {}, which no parameter is",
             file_.name(), printable(name), name_of(stored.type));
  if (wanted.is_weight && std::ranges::equal(shape, wanted.shape)) {
    const Tensor blocks = rows_of(file_.blocks(name));
    if (!blocks.is_empty()) return Var::narrow(blocks, {}, blocks_of(stored.type));
  }
  const Tensor values = in_shape(rows_of(file_.tensor(name)), wanted.shape);
  if (!is_narrow(values.dtype())) return Var::parameter(values.dtype() == DType::f32 ? values : values.to(DType::f32));
  const Tensor scales = rows_of(file_.scales(name));
  const bool usable = values.dtype() != DType::i8 || !scales.is_empty();
  if (wanted.is_weight && usable) return Var::narrow(values, scales);
  return Var::parameter(widened(values, scales));
}

Var CheckpointParameters::adapted(const TensorRule& rule, std::span<const std::string> names,
                                  const ParameterShape& wanted) const {
  const Index rows = wanted.shape.front();
  const bool transposes = rule.layout == TensorLayout::transposed && wanted.shape.size() == 2;
  // Rows keep a type of 16 bits where all have it.
  std::vector<Tensor> parts;
  DType type = DType::f32;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const DType here = names[i].empty() ? DType::f32 : file_.tensors().find(names[i])->second.dtype();
    const bool keeps = wanted.is_weight && (here == DType::bf16 || here == DType::f16);
    type = keeps && (i == 0 || here == type) ? here : DType::f32;
    if (type == DType::f32) break;
  }
  for (const std::string& name : names) {
    if (name.empty()) {
      parts.push_back(Tensor::zeros(type, {rows / std::ssize(names)}));
      continue;
    }
    Tensor part = file_.tensor(name);
    if (part.dtype() != type) part = widened(part, file_.scales(name));
    if (transposes && part.rank() == 2) part = transposed(part);
    if (rule.layout == TensorLayout::taps_last && part.rank() == 3) part = with_taps_first(part);
    parts.push_back(used_rows(rule, part.dim(0)).of(part));
  }
  Index total = 0;
  for (const Tensor& part : parts) total += part.dim(0);
  const std::vector<Index> rest(wanted.shape.begin() + 1, wanted.shape.end());
  const bool fits = total == rows && std::ranges::all_of(parts, [&](const Tensor& part) {
                      return std::ranges::equal(
                          std::span(part.view().shape).subspan(1, static_cast<std::size_t>(part.rank()) - 1), rest);
                    });
  std::vector<std::string> seen;
  for (const Tensor& part : parts) seen.push_back(describe(part.view()));
  HEED_CHECK(fits, "{}: {} {} {}, but the model needs [{}]", file_.name(), fmt::join(names, ", "),
             names.size() == 1 ? "is" : "are", fmt::join(seen, ", "), fmt::join(wanted.shape, ", "));
  Tensor all = tensor_of_shape(type, wanted.shape);
  char* to = all.view().as<char>();
  for (const Tensor& part : parts) {
    const std::size_t bytes = static_cast<std::size_t>(part.size() * size_of(type));
    std::memcpy(to, part.view().as<char>(), bytes);
    to += bytes;
  }
  if (rule.layout == TensorLayout::heads_apart) {
    HEED_CHECK(rows % (3 * heads_) == 0, "{}: the {} rows of {} are not those of {} heads", file_.name(), rows,
               wanted.name, heads_);
    all = with_heads_together(all, heads_);
  }
  if (rule.layout == TensorLayout::plus_one) {
    for (Index i = 0; i < all.size(); ++i) all.data<float>()[i] += 1;
  }
  return type == DType::f32 ? Var::parameter(all) : Var::narrow(all);
}

}  // namespace heed
