// What a Json holds: for the files that implement it only.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "heed/io/json.h"

namespace heed {

// An array of nothing but integers, or of nothing but other numbers, is a list of those: 8 bytes an item instead of 40.
// Every other array is an Array, the empty one too, so that equal values are held alike.
struct Json::Node {
  using Array = std::vector<Node>;
  using Object = std::vector<std::pair<std::string, Node>>;
  using Integers = std::vector<Index>;
  using Numbers = std::vector<double>;
  // The first alternatives are in the order of Json::Kind.
  using Value = std::variant<std::monostate, bool, Index, double, std::string, Array, Object, Integers, Numbers>;
  Value value;

  // Stated, since Object's pairs ask whether a Node can be made of nothing: of an aggregate, clang would have to know
  // the pairs for the answer.
  Node() = default;
  explicit Node(Value of) : value(std::move(of)) {}
  // The variant's own copy, in GCC 12, takes apart what it has not made where memory runs out.
  Node(const Node& other) {
    std::visit([this](const auto& held) { value.emplace<std::remove_cvref_t<decltype(held)>>(held); }, other.value);
  }
  Node(Node&&) noexcept = default;
  Node& operator=(const Node&) = default;
  Node& operator=(Node&&) noexcept = default;
  ~Node() = default;

  Kind kind() const { return is_number_list() ? Kind::array : static_cast<Kind>(value.index()); }
  bool is_number_list() const {
    return std::holds_alternative<Integers>(value) || std::holds_alternative<Numbers>(value);
  }

  // Calls f on the list that holds an array's items.
  template <typename F>
  auto visit_array(F&& f) const {
    if (const auto* integers = std::get_if<Integers>(&value)) return f(*integers);
    if (const auto* numbers = std::get_if<Numbers>(&value)) return f(*numbers);
    return f(std::get<Array>(value));
  }

  // Adds an item to an array.
  void push(Node item);

  friend bool operator==(const Node& a, const Node& b) { return a.value == b.value; }
};

struct Json::Document {
  std::string name;
  Node root;
  std::function<std::string()> place = {};  // of the root in what was parsed, where it is only a part of that
};

// The double with the fewest digits that still rounds to the float: 0.1f becomes 0.1, not 0.10000000149011612.
double shortest_double(float value);

}  // namespace heed
