#include "heed/io/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/printable.h"
#include "heed/io/json_node.h"

namespace heed {
namespace {

// Two keys or indices of a path, one under the other.
std::string joined(std::string above, std::string_view below) {
  if (!above.empty() && !below.empty() && !below.starts_with('[')) above += '.';
  return above.append(below);
}

}  // namespace

double shortest_double(float value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  double wide = 0;
  if (error != std::errc() || std::from_chars(digits, end, wide).ec != std::errc()) return value;
  return static_cast<float>(wide) == value ? wide : value;
}

void Json::Node::push(Node item) {
  auto* const integers = std::get_if<Integers>(&value);
  auto* const numbers = std::get_if<Numbers>(&value);
  const bool first = integers == nullptr && numbers == nullptr && std::get<Array>(value).empty();
  if (const Index* integer = std::get_if<Index>(&item.value); integer != nullptr && (first || integers != nullptr)) {
    if (first) value = Integers{};
    return std::get<Integers>(value).push_back(*integer);
  }
  if (const double* number = std::get_if<double>(&item.value); number != nullptr && (first || numbers != nullptr)) {
    if (first) value = Numbers{};
    return std::get<Numbers>(value).push_back(*number);
  }
  if (integers != nullptr || numbers != nullptr) {
    Array array;
    const auto add = [&](const auto& list) {
      for (const auto number : list) array.emplace_back().value = number;
    };
    integers != nullptr ? add(*integers) : add(*numbers);
    value = std::move(array);
  }
  std::get<Array>(value).push_back(std::move(item));
}

Json::Json() : Json(Node{}) {}
Json::Json(Leaf, bool value) : Json(Node{value}) {}
Json::Json(Leaf, Index value) : Json(Node{value}) {}
Json::Json(Leaf, double value) : Json(Node{value}) {}
Json::Json(std::string value) : Json(Node{std::move(value)}) {}
Json::Json(Node node) : document_(std::make_shared<Document>(Document{{}, std::move(node)})), at_(&document_->root) {}

Json Json::object(std::vector<Member> members) {  // NOLINT: they are moved from, by the names they are bound to
  Node::Object object;
  object.reserve(members.size());
  std::unordered_set<std::string> keys;
  for (auto& [key, value] : members) {
    HEED_CHECK(keys.insert(key).second, "Json::object: the key \"{}\" appears twice", printable(key));
    object.emplace_back(std::move(key), value.release());
  }
  return Json(Node{std::move(object)});
}

Json Json::array(std::vector<Json> items) {
  Node array{Node::Array{}};
  for (Json& item : items) array.push(item.release());
  return Json(std::move(array));
}

Json Json::array_of(std::span<const float> values) {
  Node::Numbers numbers(values.size());
  std::ranges::transform(values, numbers.begin(), shortest_double);
  return array_of(std::span<const double>(numbers));
}

Json Json::array_of(std::span<const double> values) {
  if (values.empty()) return array();
  return Json(Node{Node::Numbers(values.begin(), values.end())});
}

Json Json::array_of(std::span<const Index> values) {
  if (values.empty()) return array();
  return Json(Node{Node::Integers(values.begin(), values.end())});
}

Json Json::array_of(std::span<const std::string> values) {
  Node::Array array;
  array.reserve(values.size());
  for (const std::string& value : values) array.push_back(Node{value});
  return Json(Node{std::move(array)});
}

Json Json::named(std::string name) && {
  Json json(release());
  json.document_->name = std::move(name);
  return json;
}

void Json::set(std::string_view key, Json value) {
  if (kind() != Kind::object) refuse("must be an object");
  Node node = value.release();
  auto& object = std::get<Node::Object>(own().value);
  const auto found =
      std::ranges::find(object, key, [](const auto& member) -> std::string_view { return member.first; });
  if (found != object.end()) {
    found->second = std::move(node);
  } else {
    object.emplace_back(key, std::move(node));
  }
}

void Json::append(Json value) {
  if (kind() != Kind::array) refuse("must be an array");
  Node node = value.release();
  own().push(std::move(node));
}

Json::Kind Json::kind() const { return at_->kind(); }

bool Json::boolean() const {
  if (kind() != Kind::boolean) refuse("must be true or false");
  return std::get<bool>(at_->value);
}

Index Json::integer(Index least, Index most) const {
  if (kind() == Kind::integer) {
    const Index value = std::get<Index>(at_->value);
    if (least <= value && value <= most) return value;
  }
  const bool low = least != std::numeric_limits<Index>::min(), high = most != std::numeric_limits<Index>::max();
  if (low && high) refuse(fmt::format("must be an integer from {} to {}", least, most));
  if (low) refuse(fmt::format("must be an integer of at least {}", least));
  if (high) refuse(fmt::format("must be an integer of at most {}", most));
  refuse("must be an integer");
}

double Json::number() const {
  if (kind() == Kind::integer) return static_cast<double>(std::get<Index>(at_->value));
  if (kind() != Kind::number) refuse("must be a number");
  return std::get<double>(at_->value);
}

const std::string& Json::string() const {
  if (kind() != Kind::string) refuse("must be a string");
  return std::get<std::string>(at_->value);
}

Index Json::size() const {
  if (kind() == Kind::array) return at_->visit_array([](const auto& list) { return std::ssize(list); });
  if (kind() != Kind::object) refuse("must be an array or an object");
  return static_cast<Index>(std::get<Node::Object>(at_->value).size());
}

const Json::Node* Json::find(std::string_view key) const {
  if (kind() != Kind::object) refuse(fmt::format("must be an object with the key \"{}\"", printable(key)));
  for (const auto& [name, node] : std::get<Node::Object>(at_->value)) {
    if (name == key) return &node;
  }
  return nullptr;
}

Json Json::operator[](std::string_view key) const {
  const Node* const node = find(key);
  if (node == nullptr) fail("{}: the key \"{}\" is missing", where(), printable(key));
  return child(*node);
}

bool Json::has(std::string_view key) const { return find(key) != nullptr; }

// An item of a list of numbers has no Node that it could point to, and becomes a document of its own.
Json Json::item(Index index) const {
  const auto i = static_cast<std::size_t>(index);
  if (const auto* array = std::get_if<Node::Array>(&at_->value)) return child((*array)[i]);
  auto document = std::make_shared<Document>();
  document->name = document_->name;
  if (const auto* integers = std::get_if<Node::Integers>(&at_->value)) {
    document->root.value = (*integers)[i];
  } else {
    document->root.value = std::get<Node::Numbers>(at_->value)[i];
  }
  document->place = [list = *this, index] { return joined(list.path(), fmt::format("[{}]", index)); };
  const Node* const root = &document->root;
  return Json(std::move(document), root);
}

Json Json::operator[](Index index) const {
  if (kind() != Kind::array) refuse("must be an array");
  if (index < 0 || index >= size()) fail("{}: item {} was asked for, but there are {}", where(), index, size());
  return item(index);
}

std::vector<Json> Json::items() const {
  if (kind() != Kind::array) refuse("must be an array");
  std::vector<Json> items;
  items.reserve(static_cast<std::size_t>(size()));
  for (Index i = 0; i < size(); ++i) items.push_back(item(i));
  return items;
}

std::vector<Json::Member> Json::members() const {
  if (kind() != Kind::object) refuse("must be an object");
  std::vector<Member> members;
  members.reserve(static_cast<std::size_t>(size()));
  for (const auto& [key, node] : std::get<Node::Object>(at_->value)) members.emplace_back(key, child(node));
  return members;
}

template <typename T>
std::vector<T> Json::numbers_as() const {
  if (kind() != Kind::array) refuse("must be an array of numbers");
  std::vector<T> list;
  list.reserve(static_cast<std::size_t>(size()));
  if (at_->is_number_list()) {
    at_->visit_array([&](const auto& numbers) {
      for (const auto& number : numbers) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(number)>>) list.push_back(static_cast<T>(number));
      }
    });
  } else {
    for (Index i = 0; i < size(); ++i) list.push_back(static_cast<T>(item(i).number()));
  }
  return list;
}

std::vector<double> Json::number_list() const { return numbers_as<double>(); }
std::vector<float> Json::float_list() const { return numbers_as<float>(); }

std::vector<Index> Json::integer_list(Index least, Index most) const {
  if (kind() != Kind::array) refuse("must be an array of integers");
  std::vector<Index> list;
  list.reserve(static_cast<std::size_t>(size()));
  const auto* integers = std::get_if<Node::Integers>(&at_->value);
  for (Index i = 0; i < size(); ++i) {
    const Index value = integers != nullptr ? (*integers)[static_cast<std::size_t>(i)] : least;
    const bool plain = integers != nullptr && least <= value && value <= most;
    list.push_back(plain ? value : item(i).integer(least, most));
  }
  return list;
}

std::vector<std::string> Json::string_list() const {
  if (kind() != Kind::array) refuse("must be an array of strings");
  std::vector<std::string> list;
  list.reserve(static_cast<std::size_t>(size()));
  for (Index i = 0; i < size(); ++i) list.push_back(item(i).string());
  return list;
}

void Json::allow_only(std::span<const std::string_view> known) const {
  if (kind() != Kind::object) refuse("must be an object");
  for (const auto& [key, node] : std::get<Node::Object>(at_->value)) {
    HEED_CHECK(std::ranges::find(known, key) != known.end(), "{}: unknown key \"{}\"; the keys are: {}", where(),
               printable(key), fmt::join(known, ", "));
  }
}

// Nodes do not know their parents, which keeps them small: the way to this one is searched for, from the root, when an
// error needs it.
std::string Json::path() const {
  std::vector<std::string> steps;
  const auto reach = [&](const auto& self, const Node& node) -> bool {
    if (&node == at_) return true;
    if (const auto* array = std::get_if<Node::Array>(&node.value)) {
      for (std::size_t i = 0; i < array->size(); ++i) {
        if (self(self, (*array)[i])) return steps.push_back(fmt::format("[{}]", i)), true;
      }
    } else if (const auto* object = std::get_if<Node::Object>(&node.value)) {
      for (const auto& [key, value] : *object) {
        if (self(self, value)) return steps.push_back(printable(key)), true;
      }
    }
    return false;
  };
  reach(reach, document_->root);
  std::string path = document_->place ? document_->place() : "";
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) path = joined(std::move(path), *step);
  return path;
}

std::string Json::where() const {
  const std::string name = document_->name.empty() ? "JSON" : document_->name;
  const std::string way = path();
  return way.empty() ? name : fmt::format("{}: {}", name, way);
}

void Json::refuse(std::string_view rule) const {
  std::string seen;
  switch (kind()) {
    case Kind::array:
      seen = fmt::format("an array of {}", size());
      break;
    case Kind::object:
      seen = fmt::format("an object with {} keys", size());
      break;
    case Kind::number:  // dump refuses an infinity
      seen = fmt::format("{}", std::get<double>(at_->value));
      break;
    case Kind::string:  // dump refuses invalid UTF-8
      seen = fmt::format("\"{}\"", string());
      break;
    default:
      seen = dump();
  }
  fail("{}: {}, but is {}", where(), rule, printable(seen));
}

bool Json::equals(const Json& other) const { return at_ == other.at_ || *at_ == *other.at_; }

Json Json::named(std::string_view name) const {
  Json copy = *this;
  copy.own();
  copy.document_->name = name;
  return copy;
}

Json::Node& Json::own() {
  if (document_.use_count() != 1 || at_ != &document_->root) {
    document_ = std::make_shared<Document>(Document{document_->name, *at_});
    at_ = &document_->root;
  }
  return document_->root;
}

Json::Node Json::release() {
  if (document_.use_count() == 1 && at_ == &document_->root) return std::move(document_->root);
  return *at_;
}

Json read_json(const std::filesystem::path& path) { return Json::parse(read_file(path), path.string()); }

void write_json(const std::filesystem::path& path, const Json& value, int indent) {
  write_file(path, value.dump(indent) + "\n");
}

}  // namespace heed
