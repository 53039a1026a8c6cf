// What a Json holds: for json.cc and json_text.cc only.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heed/io/json.h"

namespace heed {

// The alternatives are in the order of Json::Kind.
struct Json::Node {
  using Array = std::vector<Node>;
  using Object = std::vector<std::pair<std::string, Node>>;
  std::variant<std::monostate, bool, Index, double, std::string, Array, Object> value;

  template <typename T>
  static Node list_of(std::span<const T> values) {
    Array array(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) array[i].value = values[i];
    return Node{std::move(array)};
  }

  Kind kind() const { return static_cast<Kind>(value.index()); }
  friend bool operator==(const Node& a, const Node& b) { return a.value == b.value; }
};

struct Json::Document {
  std::string name;
  Node root;
};

}  // namespace heed
