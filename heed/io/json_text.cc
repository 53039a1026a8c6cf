// Text to Json (through nlohmann's SAX parser) and back.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "heed/base/check.h"
#include "heed/base/control_characters.h"
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

bool is_plain(Json::Kind kind) { return kind != Json::Kind::array && kind != Json::Kind::object; }

}  // namespace

// Builds the tree from the events of nlohmann's parser, which does not recurse.
class Json::Parser : public nlohmann::json_sax<nlohmann::json> {
 public:
  Parser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

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
    if (levels_.empty()) {
      root_ = std::move(node);
    } else if (auto* array = std::get_if<Node::Array>(&levels_.back().node.value)) {
      array->push_back(std::move(node));
    } else {
      std::get<Node::Object>(levels_.back().node.value).emplace_back(std::move(levels_.back().key), std::move(node));
    }
    return true;
  }
  bool open(Node node) {
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
  std::vector<Level> levels_;
  Node root_;
};

class Json::Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Node& node, int depth) {
    switch (node.kind()) {
      case Kind::null:
        text_ += "null";
        return;
      case Kind::boolean:
        text_ += std::get<bool>(node.value) ? "true" : "false";
        return;
      case Kind::integer:
        fmt::format_to(std::back_inserter(text_), "{}", std::get<Index>(node.value));
        return;
      case Kind::number:
        write_number(std::get<double>(node.value));
        return;
      case Kind::string:
        write_string(std::get<std::string>(node.value));
        return;
      case Kind::array: {
        const auto& array = std::get<Node::Array>(node.value);
        const bool one_line = std::ranges::all_of(array, is_plain, &Node::kind);
        write_list('[', ']', array, depth, one_line, [&](const Node& item) { write(item, depth + 1); });
        return;
      }
      case Kind::object:
        write_list('{', '}', std::get<Node::Object>(node.value), depth, false, [&](const auto& member) {
          write_string(member.first);
          text_ += indent_ > 0 ? ": " : ":";
          write(member.second, depth + 1);
        });
        return;
    }
  }

  std::string take() { return std::move(text_); }

 private:
  template <typename List, typename WriteItem>
  void write_list(char open, char close, const List& list, int depth, bool one_line, const WriteItem& write_item) {
    HEED_CHECK(depth < kMaxDepth, "Json::dump: arrays and objects are nested more than {} deep", kMaxDepth);
    text_ += open;
    bool first = true;
    for (const auto& item : list) {
      if (!first) text_ += indent_ > 0 && one_line ? ", " : ",";
      if (!one_line) new_line(depth + 1);
      write_item(item);
      first = false;
    }
    if (!one_line && !list.empty()) new_line(depth);
    text_ += close;
  }

  void new_line(int depth) {
    if (indent_ <= 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_ * depth), ' ');
  }

  // The fewest digits that read back as the same double, and a mark that it is not an integer.
  void write_number(double value) {
    HEED_CHECK(std::isfinite(value), "Json::dump: JSON cannot hold the number {}", value);
    const std::size_t begin = text_.size();
    fmt::format_to(std::back_inserter(text_), "{}", value);
    if (text_.find_first_of(".e", begin) == std::string::npos) text_ += ".0";
  }

  void write_string(std::string_view value) {
    Index offset = 0;
    HEED_CHECK(valid_utf8(value, &offset), "Json::dump: byte {} of a string of {} is not valid UTF-8", offset + 1,
               value.size());
    text_ += '"';
    for (std::size_t i = 0; i < value.size(); ++i) {
      const char c = value[i];
      switch (c) {
        case '"':
          text_ += "\\\"";
          break;
        case '\\':
          text_ += "\\\\";
          break;
        case '\n':
          text_ += "\\n";
          break;
        case '\r':
          text_ += "\\r";
          break;
        case '\t':
          text_ += "\\t";
          break;
        default:
          // JSON asks for this below U+0020 only; a terminal obeys the others too.
          if (const std::size_t bytes = control_character_at(value, i); bytes > 0) {
            i += bytes - 1;  // of two bytes the second is the code
            fmt::format_to(std::back_inserter(text_), "\\u{:04x}", static_cast<unsigned char>(value[i]));
          } else {
            text_ += c;
          }
      }
    }
    text_ += '"';
  }

  int indent_;
  std::string text_;
};

Json Json::parse(std::string_view text, std::string_view name) {
  Index bad = 0;
  HEED_CHECK(valid_utf8(text, &bad), "{}: not valid UTF-8", place_of(name, text, static_cast<std::size_t>(bad)));
  // nlohmann takes a NUL for the end of the text and would not see what follows it.
  const std::size_t nul = text.find('\0');
  HEED_CHECK(nul == std::string_view::npos, "{}: not valid JSON: a NUL byte", place_of(name, text, nul));
  Parser parser(text, name);
  nlohmann::json::sax_parse(text.begin(), text.end(), &parser);
  Json value(parser.take());
  value.document_->name = name;
  return value;
}

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.write(*at_, 0);
  return writer.take();
}

}  // namespace heed
