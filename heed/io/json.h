// JSON values: configurations, traces, reports.
//
//   Json config = read_json("config.json");
//   Index layers = config["layers"].integer(1, 1024);   // else: "config.json: layers: must be an integer from 1 ..."
//   for (const Json& name : config["names"].items()) use(name.string());
//   write_json("report.json", Json::object({{"bleu", 41.02}, {"systems", Json::array({"a", "b"})}}));
#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

// A value and everything under it. Reads like a value (copies are independent, and cheap: they share until one is
// changed), and remembers which file and which place in it it came from, so that every error of a getter can name both.
// Objects keep the order of their keys. Numbers written as integers that fit 64 bits are integers, all others are
// doubles.
class Json {
 public:
  enum class Kind { null, boolean, integer, number, string, array, object };
  using Member = std::pair<std::string, Json>;

  // The deepest nesting that parse and dump accept.
  static constexpr int kMaxDepth = 200;
  // The most values that a member which parse_members hands over may hold.
  static constexpr int kMostMemberValues = 1024;

  // Building. Not explicit: Json::object({{"layers", 6}, {"name", "base"}}) should read as JSON does.
  Json();
  Json(std::nullptr_t) : Json() {}        // NOLINT(google-explicit-constructor)
  template <std::same_as<bool> T>         // a template, so that a pointer is not taken for a bool
  Json(T value) : Json(Leaf{}, value) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>              // the integer types of which every value fits an Index
  requires(!std::same_as<T, bool> && (std::is_signed_v<T> || sizeof(T) < sizeof(Index))) Json(T value)
      : Json(Leaf{}, static_cast<Index>(value)) {}  // NOLINT(google-explicit-constructor)
  template <std::floating_point T>
  Json(T value) : Json(Leaf{}, static_cast<double>(value)) {}  // NOLINT(google-explicit-constructor)
  Json(const char* value) : Json(std::string(value)) {}        // NOLINT(google-explicit-constructor)
  Json(std::string_view value) : Json(std::string(value)) {}   // NOLINT(google-explicit-constructor)
  Json(std::string value);                                     // NOLINT(google-explicit-constructor)
  // Throws heed::Error where a key appears twice.
  static Json object(std::vector<Member> members = {});
  static Json array(std::vector<Json> items = {});
  // Lists without a Json for each item. Floats are written with the fewest digits that read back as the same float.
  static Json array_of(std::span<const float> values);
  static Json array_of(std::span<const double> values);
  static Json array_of(std::span<const Index> values);
  static Json array_of(std::span<const std::string> values);

  // This value, of which errors say that it came from `name`, as if it had been parsed there.
  Json named(std::string name) &&;
  // Replaces the member, or adds it at the end. Throws heed::Error where this is not an object.
  void set(std::string_view key, Json value);
  // Adds an item at the end. Throws heed::Error where this is not an array.
  void append(Json value);

  // Reading. Every getter throws heed::Error that names the place, the rule and the value seen.
  Kind kind() const;
  bool is_null() const { return kind() == Kind::null; }
  bool boolean() const;
  Index integer(Index least = std::numeric_limits<Index>::min(), Index most = std::numeric_limits<Index>::max()) const;
  double number() const;  // integers too, rounded beyond 2^53
  const std::string& string() const;
  // The number of items of an array or members of an object.
  Index size() const;
  // The member of an object, which must be there; looked for from the first to the last.
  Json operator[](std::string_view key) const;
  bool has(std::string_view key) const;
  // The item of an array, which must be there.
  Json operator[](Index index) const;
  std::vector<Json> items() const;
  std::vector<Member> members() const;
  std::vector<double> number_list() const;
  std::vector<float> float_list() const;  // of numbers, each rounded
  std::vector<Index> integer_list(Index least = std::numeric_limits<Index>::min(),
                                  Index most = std::numeric_limits<Index>::max()) const;
  std::vector<std::string> string_list() const;

  // Throws where this is not an object, or has a key that is not one of `known`: a misspelt key must not pass for a
  // default.
  void allow_only(std::span<const std::string_view> known) const;
  void allow_only(std::initializer_list<std::string_view> known) const {
    allow_only(std::span(known.begin(), known.end()));
  }

  // The same value with another name for the file that it is of, in errors.
  Json named(std::string_view name) const;
  // "config.json: model.layers[3]": where this value lies in what was parsed.
  std::string where() const;
  // Throws heed::Error("<where>: <rule>, but is <this value, cut short>"), for rules that the getters do not know.
  [[noreturn]] void refuse(std::string_view rule) const;

  // Parses one JSON text (RFC 8259; a byte-order mark is skipped). `name` stands for the file in errors. Throws
  // heed::Error naming the line and byte for what is not JSON, invalid UTF-8, numbers beyond double, keys that appear
  // twice in an object and nesting beyond kMaxDepth.
  static Json parse(std::string_view text, std::string_view name = "JSON");
  // Parses an object and hands over its members as they come, each with its path, one or two keys, so that only one of
  // them is held at a time. The members of the member `opened`, where that is an object, are handed over one by one,
  // and after them what is left of it, an empty object. Throws as parse does, for a member of more than
  // kMostMemberValues values, and what `visit` throws.
  using MemberVisitor = std::function<void(std::span<const std::string> path, const Json& value)>;
  static void parse_members(std::string_view text, std::string_view name, const MemberVisitor& visit,
                            std::string_view opened = {});
  // The text; one line with indent 0, otherwise one member or item a line (lists of plain values stay on one line). The
  // same value gives the same bytes, and parse gives back an equal value. Throws heed::Error for strings that are not
  // UTF-8, for infinities and NaN, which JSON cannot hold, and for nesting beyond kMaxDepth.
  std::string dump(int indent = 0) const;

  // Equal kinds and values, members in the same order.
  friend bool operator==(const Json& a, const Json& b) { return a.equals(b); }

 private:
  struct Leaf {};
  struct Node;
  struct Document;
  class Parser;
  friend class JsonStream;

  Json(Leaf, bool value);
  Json(Leaf, Index value);
  Json(Leaf, double value);
  explicit Json(Node node);
  Json(std::shared_ptr<Document> document, const Node* at) : document_(std::move(document)), at_(at) {}
  bool equals(const Json& other) const;
  // A document of this value alone, which no other Json shares.
  Node& own();
  Node release();
  Json child(const Node& node) const { return Json(document_, &node); }
  Json item(Index index) const;
  template <typename T>
  std::vector<T> numbers_as() const;
  // The way to this value from what was parsed: "model.layers[3]".
  std::string path() const;
  const Node* find(std::string_view key) const;

  std::shared_ptr<Document> document_;
  const Node* at_ = nullptr;  // in *document_
};

// Reads and parses a file. Throws heed::Error naming it.
Json read_json(const std::filesystem::path& path);
// Replaces the file by the value's text and a final newline, whole or not at all.
void write_json(const std::filesystem::path& path, const Json& value, int indent = 2);

}  // namespace heed
