#include "heed/io/json_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "heed/base/check.h"
#include "heed/base/control_characters.h"
#include "heed/base/utf8.h"
#include "heed/io/base64.h"
#include "heed/io/json_node.h"

namespace heed {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

bool is_plain(Json::Kind kind) { return kind != Json::Kind::array && kind != Json::Kind::object; }

}  // namespace

void JsonStream::open_object() { open('{', '}', false); }
void JsonStream::open_array() { open('[', ']', false); }
void JsonStream::open_list() { open('[', ']', true); }

void JsonStream::open(char begin, char end, bool one_line) {
  begin_value();
  HEED_CHECK(levels_.size() < Json::kMaxDepth, "Json::dump: arrays and objects are nested more than {} deep",
             Json::kMaxDepth);
  text_ += begin;
  levels_.push_back({end, one_line});
}

void JsonStream::close() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.one_line && !level.empty) new_line();
  text_ += level.end;
  hand_over_if_full();
}

void JsonStream::key(std::string_view key) {
  separate();
  write_string(key);
  text_ += indent_ > 0 ? ": " : ":";
  after_key_ = true;
}

void JsonStream::value(const Json& value) { write(*value.at_); }

void JsonStream::integer(Index value) {
  begin_value();
  fmt::format_to(std::back_inserter(text_), "{}", value);
  hand_over_if_full();
}

void JsonStream::number(double value) {
  begin_value();
  write_number(value);
  hand_over_if_full();
}

void JsonStream::number(float value) { number(shortest_double(value)); }

void JsonStream::base64(std::string_view bytes) {
  constexpr std::size_t kPart = 3 << 14;  // of whole triples, so that parts join
  begin_value();
  text_ += '"';
  for (std::size_t at = 0; at < bytes.size(); at += kPart) {
    text_ += heed::base64(bytes.substr(at, kPart));
    hand_over_if_full();
  }
  text_ += '"';
  hand_over_if_full();
}

void JsonStream::finish() {
  sink_(text_);
  text_.clear();
}

void JsonStream::begin_value() {
  if (!after_key_ && !levels_.empty()) separate();
  after_key_ = false;
}

void JsonStream::separate() {
  Level& level = levels_.back();
  if (!level.empty) text_ += indent_ > 0 && level.one_line ? ", " : ",";
  level.empty = false;
  if (!level.one_line) new_line();
}

void JsonStream::new_line() {
  if (indent_ <= 0) return;
  text_ += '\n';
  text_.append(static_cast<std::size_t>(indent_) * levels_.size(), ' ');
}

void JsonStream::hand_over_if_full() {
  if (text_.size() < kPieceBytes) return;
  sink_(text_);
  text_.clear();
}

void JsonStream::write(const Json::Node& node) {
  using Node = Json::Node;
  if (node.is_number_list()) {
    open_list();
    if (const auto* integers = std::get_if<Node::Integers>(&node.value)) {
      for (Index item : *integers) integer(item);
    } else {
      for (double item : std::get<Node::Numbers>(node.value)) number(item);
    }
    return close();
  }
  if (const auto* array = std::get_if<Node::Array>(&node.value)) {
    open('[', ']', std::ranges::all_of(*array, is_plain, &Node::kind));
    for (const Node& item : *array) write(item);
    return close();
  }
  if (const auto* object = std::get_if<Node::Object>(&node.value)) {
    open_object();
    for (const auto& [name, member] : *object) {
      key(name);
      write(member);
    }
    return close();
  }
  if (const auto* value = std::get_if<Index>(&node.value)) return integer(*value);
  if (const auto* value = std::get_if<double>(&node.value)) return number(*value);
  begin_value();
  if (const auto* value = std::get_if<std::string>(&node.value)) {
    write_string(*value);
  } else if (const auto* truth = std::get_if<bool>(&node.value)) {
    text_ += *truth ? "true" : "false";
  } else {
    text_ += "null";
  }
  hand_over_if_full();
}

// The fewest digits that read back as the same double, and a mark that it is not an integer.
void JsonStream::write_number(double value) {
  HEED_CHECK(std::isfinite(value), "Json::dump: JSON cannot hold the number {}", value);
  const std::size_t begin = text_.size();
  fmt::format_to(std::back_inserter(text_), "{}", value);
  if (text_.find_first_of(".e", begin) == std::string::npos) text_ += ".0";
}

void JsonStream::write_string(std::string_view value) {
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

std::string Json::dump(int indent) const {
  std::string text;
  JsonStream stream([&](std::string_view piece) { text += piece; }, indent);
  stream.value(*this);
  stream.finish();
  return text;
}

}  // namespace heed
