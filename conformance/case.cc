#include "case.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/tensor/row_storage.h"

namespace heed::conformance {
namespace {

namespace fs = std::filesystem;

// numpy's names in case.json.
constexpr std::pair<std::string_view, DType> kDTypes[] = {
    {"float32", DType::f32}, {"float64", DType::f64}, {"float16", DType::f16},
    {"int32", DType::i32},   {"int64", DType::i64},   {"bool", DType::boolean},
};

// A file of the case's own folder, or of one below it.
fs::path file_of(const fs::path& folder, const Json& value) {
  const fs::path name = value["file"].string();
  if (name.empty() || name.is_absolute() || std::ranges::find(name, "..") != name.end()) {
    value["file"].refuse("must be a file in the case's folder");
  }
  const fs::path path = folder / name;
  std::error_code error;
  HEED_CHECK(fs::is_regular_file(path, error), "{}: not a file", printable(path.string()));
  return path;
}

Case::Value read_value(const fs::path& folder, const Json& json) {
  const fs::path path = file_of(folder, json);
  Case::Value value{json.has("name") ? json["name"].string() : std::string(), read_npy_array(path)};
  if (json.has("shape")) {
    const Extents stated = json["shape"].integer_list(0);
    HEED_CHECK(stated == value.array.shape, "{}: the shape is {}, but the case says {}", path.string(),
               text_of(value.array.shape), text_of(stated));
  }
  if (json.has("dtype")) {
    const std::string stated = json["dtype"].string();
    const auto known = std::ranges::find(kDTypes, std::string_view(stated), &std::pair<std::string_view, DType>::first);
    if (known == std::end(kDTypes)) throw Skip(fmt::format("arrays of type {}", printable(stated)));
    HEED_CHECK(known->second == value.array.elements.dtype(), "{}: the type is {}, but the case says {}", path.string(),
               name_of(value.array.elements.dtype()), stated);
  }
  return value;
}

std::vector<std::optional<Case::Value>> read_values(const fs::path& folder, const Json& list) {
  std::vector<std::optional<Case::Value>> values;
  for (const Json& item : list.items()) {
    values.push_back(item.is_null() ? std::nullopt : std::optional(read_value(folder, item)));
  }
  return values;
}

double tolerance(const Json& json, std::string_view key, double otherwise) {
  if (!json.has(key)) return otherwise;
  const double value = json[key].number();
  if (!(value >= 0)) json[key].refuse("must not be negative");
  return value;
}

}  // namespace

Case::Case(const fs::path& folder) {
  const Json json = read_json(folder / "case.json");
  op_ = json["op"].string();
  domain_ = json.has("domain") ? json["domain"].string() : "";
  if (domain_ == "ai.onnx") domain_.clear();
  opset_ = json["opset"].integer(1);
  rtol_ = tolerance(json, "rtol", 1e-3);
  atol_ = tolerance(json, "atol", 1e-7);
  attributes_ = json.has("attributes") ? json["attributes"] : Json::object();
  if (attributes_.kind() != Json::Kind::object) attributes_.refuse("must be an object");
  inputs_ = read_values(folder, json["inputs"]);
  outputs_ = read_values(folder, json["outputs"]);
  if (std::ranges::none_of(outputs_, [](const auto& output) { return output.has_value(); })) {
    json["outputs"].refuse("must state an output");
  }
  const bool has_f64 = std::ranges::any_of(
      inputs_, [](const auto& input) { return input && input->array.elements.dtype() == DType::f64; });
  compute_type_ = has_f64 ? DType::f64 : DType::f32;
}

void Case::allow_attributes(std::initializer_list<std::string_view> known) const {
  for (const auto& [name, value] : attributes_.members()) {
    if (!value.is_null() && std::ranges::find(known, name) == known.end()) {
      throw Skip(fmt::format("{} with the attribute {}", op_, printable(name)));
    }
  }
}

bool Case::has_attribute(std::string_view name) const { return attributes_.has(name) && !attributes_[name].is_null(); }

Index Case::integer(std::string_view name, Index otherwise, Index least, Index most) const {
  return has_attribute(name) ? attributes_[name].integer(least, most) : otherwise;
}

double Case::number(std::string_view name, double otherwise) const {
  return has_attribute(name) ? attributes_[name].number() : otherwise;
}

std::string Case::string(std::string_view name, std::string_view otherwise) const {
  return has_attribute(name) ? attributes_[name].string() : std::string(otherwise);
}

std::vector<std::string> Case::string_list(std::string_view name) const {
  return has_attribute(name) ? attributes_[name].string_list() : std::vector<std::string>();
}

bool Case::has(Index i) const { return i < input_count() && inputs_[static_cast<std::size_t>(i)].has_value(); }

const Array& Case::input(Index i) const {
  HEED_CHECK(has(i), "{} needs its input {}", printable(op_), i);
  return inputs_[static_cast<std::size_t>(i)]->array;
}

Array Case::real(Index i) const {
  const Array& array = input(i);
  HEED_CHECK(is_floating(array.elements.dtype()), "{} must be floating, but is {}", input_name(i),
             name_of(array.elements.dtype()));
  return {array.shape, array.elements.to(compute_type_)};
}

double Case::scalar(Index i) const {
  const Tensor& elements = input(i).elements;
  HEED_CHECK(elements.size() == 1, "{} must be one number, but has the shape {}", input_name(i),
             text_of(input(i).shape));
  switch (elements.dtype()) {
    case DType::i32:
      return elements.at<std::int32_t>({0});
    case DType::i64:
      return static_cast<double>(elements.at<std::int64_t>({0}));
    case DType::boolean:
      return elements.at<bool>({0}) ? 1 : 0;
    default:
      return elements.to(DType::f64).at<double>({0});
  }
}

Array Case::int32(Index i) const {
  const Array& array = input(i);
  if (array.elements.dtype() == DType::i32) return array;
  HEED_CHECK(array.elements.dtype() == DType::i64, "{} must be integers, but is {}", input_name(i),
             name_of(array.elements.dtype()));
  const Array result{array.shape, Tensor::empty(DType::i32, {array.elements.size()})};
  for (Index e = 0; e < array.elements.size(); ++e) {
    const std::int64_t value = array.elements.at<std::int64_t>({e});
    result.elements.at<std::int32_t>({e}) = static_cast<std::int32_t>(value);
    HEED_CHECK(result.elements.at<std::int32_t>({e}) == value, "{}: element {} is {}, beyond 32 bits", input_name(i), e,
               value);
  }
  return result;
}

std::string Case::input_name(Index i) const {
  const std::string name = has(i) ? inputs_[static_cast<std::size_t>(i)]->name : "";
  return name.empty() ? fmt::format("input {}", i) : printable(name);
}

}  // namespace heed::conformance
