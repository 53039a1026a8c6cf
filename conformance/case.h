// One conformance case: a folder with case.json and the arrays that it names.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "array.h"
#include "heed/io/json.h"

namespace heed::conformance {

// Thrown where a case asks for what heed does not have; what() says what.
class Skip : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Case {
 public:
  struct Value {
    std::string name;
    Array array;
  };

  // Reads folder/case.json and every array. Throws heed::Error naming the file and the rule it breaks.
  explicit Case(const std::filesystem::path& folder);

  const std::string& domain() const { return domain_; }
  const std::string& op() const { return op_; }
  Index opset() const { return opset_; }
  double rtol() const { return rtol_; }
  double atol() const { return atol_; }

  // Throws Skip for an attribute that is none of these.
  void allow_attributes(std::initializer_list<std::string_view> known) const;
  bool has_attribute(std::string_view name) const;
  Index integer(std::string_view name, Index otherwise, Index least = std::numeric_limits<Index>::min(),
                Index most = std::numeric_limits<Index>::max()) const;
  double number(std::string_view name, double otherwise) const;
  std::string string(std::string_view name, std::string_view otherwise) const;
  std::vector<std::string> string_list(std::string_view name) const;

  Index input_count() const { return static_cast<Index>(inputs_.size()); }
  // Whether the i-th input is there, and its array. Throws heed::Error where it is not.
  bool has(Index i) const;
  const Array& input(Index i) const;
  // The type that heed computes in: f64 where an input is f64, otherwise f32.
  DType compute_type() const { return compute_type_; }
  // A floating input in that type; integers and booleans are refused.
  Array real(Index i) const;
  // The input's only element.
  double scalar(Index i) const;
  // An i32 or i64 input as i32. Throws heed::Error for an element that does not fit.
  Array int32(Index i) const;
  std::string input_name(Index i) const;

  // In the operator's order; nothing where the case does not state one.
  const std::vector<std::optional<Value>>& outputs() const { return outputs_; }
  bool wants(Index i) const { return i < static_cast<Index>(outputs_.size()) && outputs_[static_cast<std::size_t>(i)]; }

 private:
  std::string domain_, op_;
  Index opset_ = 0;
  double rtol_ = 0, atol_ = 0;
  Json attributes_;
  std::vector<std::optional<Value>> inputs_, outputs_;
  DType compute_type_ = DType::f32;
};

}  // namespace heed::conformance
