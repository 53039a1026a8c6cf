// Text to Json, through nlohmann's SAX parser. (json_stream.cc goes back.)
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/io/json.h"
#include "heed/io/json_node.h"

namespace heed {
namespace {

constexpr std::size_t kShownBytes = 160;

// nlohmann says "[json.exception.parse_error.101] parse error at line 1, column 2: <detail>", or no place between ']'
// and the detail: the detail, cut short.
std::string detail_of(std::string_view message) {
  const std::size_t place = message.find("] parse error at line ");
  const std::size_t begin = message.find(place == std::string_view::npos ? "] " : ": ");
  if (begin != std::string_view::npos) message.remove_prefix(begin + 2);
  return printable(message, kShownBytes);
}

// "file:3: byte 41", both counted from 1.
std::string place_of(std::string_view name, std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  return fmt::format("{}:{}: byte {}", name, line, offset + 1);
}

std::string joined_keys(std::span<const std::string> path) {
  std::string keys;
  for (const std::string& key : path) keys += (keys.empty() ? "" : ".") + printable(key);
  return keys;
}

}  // namespace

// Builds the tree from the events of nlohmann's parser, which does not recurse; or hands members over, where somebody
// wants them, instead of adding them to the tree.
class Json::Parser : public nlohmann::json_sax<nlohmann::json> {
 public:
  Parser(std::string_view text, std::string_view name, const MemberVisitor* visit = nullptr,
         std::string_view opened = {})
      : text_(text), name_(name), visit_(visit), opened_(opened) {}

  void run() {
    Index bad = 0;
    HEED_CHECK(valid_utf8(text_, &bad), "{}: not valid UTF-8", place_of(name_, text_, static_cast<std::size_t>(bad)));
    // nlohmann takes a NUL for the end of the text and would not see what follows it.
    const std::size_t nul = text_.find('\0');
    HEED_CHECK(nul == std::string_view::npos, "{}: not valid JSON: a NUL byte", place_of(name_, text_, nul));
    nlohmann::json::sax_parse(text_.begin(), text_.end(), this);
  }
  Node take() { return std::move(root_); }

  bool null() override { return add(Node{}); }
  bool boolean(bool value) override { return add(Node{value}); }
  bool number_integer(number_integer_t value) override { return add(Node{Index{value}}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<Index>::max()))
      return add(Node{static_cast<double>(value)});
    return add(Node{static_cast<Index>(value)});
  }
  bool number_float(number_float_t value, const string_t&) override { return add(Node{value}); }
  bool string(string_t& value) override { return add(Node{std::move(value)}); }
  bool binary(binary_t&) override { return false; }  // only binary formats have it
  bool start_object(std::size_t) override { return open(Node{Node::Object{}}); }
  bool start_array(std::size_t) override { return open(Node{Node::Array{}}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    Level& level = levels_.back();
    HEED_CHECK(level.keys.insert(value).second, "{}: the key \"{}\" appears twice in one object", name_,
               printable(value));
    level.key = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    fail("{}: not valid JSON: {}", place_of(name_, text_, position == 0 ? 0 : position - 1), detail_of(error.what()));
  }

 private:
  struct Level {
    Node node;
    std::string key = {};                       // of the member that comes next
    std::unordered_set<std::string> keys = {};  // of the members so far
  };

  bool add(Node node) {
    if (visit_ != nullptr && !levels_.empty()) {
      HEED_CHECK(++values_ <= kMostMemberValues, "{}: {}: holds more than {} values", name_, joined_keys(member()),
                 kMostMemberValues);
    }
    if (levels_.empty()) {
      root_ = std::move(node);
    } else if (levels_.back().node.kind() == Kind::array) {
      levels_.back().node.push(std::move(node));
    } else if (visit_ != nullptr && levels_.size() == (in_opened() ? 2 : 1)) {
      hand_over(std::move(node));
    } else {
      std::get<Node::Object>(levels_.back().node.value).emplace_back(std::move(levels_.back().key), std::move(node));
    }
    return true;
  }
  void hand_over(Node node) {
    const std::vector<std::string> path = member();
    const auto document =
        std::make_shared<Document>(Document{std::string(name_), std::move(node), [path] { return joined_keys(path); }});
    (*visit_)(path, Json(document, &document->root));
    values_ = 0;
  }
  bool in_opened() const {
    return levels_.size() > 1 && !opened_.empty() && levels_[0].key == opened_ &&
           levels_[1].node.kind() == Kind::object;
  }
  // The way to the member that is handed over next.
  std::vector<std::string> member() const {
    std::vector<std::string> path = {levels_[0].key};
    if (in_opened()) path.push_back(levels_[1].key);
    return path;
  }
  bool open(Node node) {
    HEED_CHECK(visit_ == nullptr || !levels_.empty() || node.kind() == Kind::object, "{}: must be an object", name_);
    HEED_CHECK(levels_.size() < kMaxDepth, "{}: arrays and objects are nested more than {} deep", name_, kMaxDepth);
    levels_.push_back({std::move(node)});
    return true;
  }
  bool close() {
    Node node = std::move(levels_.back().node);
    levels_.pop_back();
    return add(std::move(node));
  }

  std::string_view text_, name_;
  const MemberVisitor* visit_;
  std::string_view opened_;  // the member whose members are handed over, too
  int values_ = 0;           // of the member that is handed over next
  std::vector<Level> levels_;
  Node root_;
};

Json Json::parse(std::string_view text, std::string_view name) {
  Parser parser(text, name);
  parser.run();
  Json value(parser.take());
  value.document_->name = name;
  return value;
}

void Json::parse_members(std::string_view text, std::string_view name, const MemberVisitor& visit,
                         std::string_view opened) {
  Parser parser(text, name, &visit, opened);
  parser.run();
  HEED_CHECK(parser.take().kind() == Kind::object, "{}: must be an object", name);
}

}  // namespace heed
