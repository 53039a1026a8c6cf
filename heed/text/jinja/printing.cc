#include "heed/text/jinja/printing.h"

#include <fmt/format.h>

#include <cmath>

#include "heed/base/printable.h"
#include "heed/io/json.h"
#include "heed/unicode/unicode.h"

namespace heed::jinja {
namespace {

// As few digits as read back as the same number, and a point.
std::string printed_number(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string in_quotes(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string all(1, quote);
  for_each_code_point(text, [&](char32_t c, std::string_view bytes) {
    const auto code = static_cast<std::uint32_t>(c);
    if (bytes == std::string_view(&quote, 1) || c == '\\') {
      all += '\\';
      all += bytes;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      all += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (c != ' ' && (is_invisible(c) || is_white_space(c))) {
      all += code < 0x100     ? fmt::format("\\x{:02x}", code)
             : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                              : fmt::format("\\U{:08x}", code);
    } else {
      all += bytes;
    }
  });
  return all + quote;
}

// Writes values one after the other, and counts as it goes: what is short may be long when it is written.
class Writer {
 public:
  explicit Writer(Run& run, std::optional<Index> indent = {}) : run_(run), indent_(indent) {}

  std::string take() && { return std::move(text_); }

  void represent(const Value& value) {
    const Run::Level level(run_);
    run_.spend(1);
    if (value.is_text()) {
      add(in_quotes(value.text()));
    } else if (const List* list = value.as_list(); list != nullptr && list->form != Form::generator) {
      represent_list(*list);
    } else if (const Dict* dict = value.as_dict()) {
      add("{");
      for (std::size_t i = 0; i < dict->members.size(); ++i) {
        if (i > 0) add(", ");
        represent(dict->members[i].first);
        add(": ");
        represent(dict->members[i].second);
      }
      add("}");
    } else {
      add(value.is_undefined() ? "Undefined" : plain(value));
    }
  }

  // What needs no quotes.
  std::string plain(const Value& value) const {
    if (value.is_undefined()) return {};
    if (value.is_none()) return "None";
    if (value.is<bool>()) return value.boolean() ? "True" : "False";
    if (value.is_integer()) return fmt::format("{}", value.integer());
    if (value.is<double>()) return printed_number(value.number());
    if (const Callable* callable = value.as_callable()) return fmt::format("<function {}>", callable->name);
    return fmt::format("<{}>", type_name(value));
  }

  void json(const Value& value, int depth) {
    const Run::Level level(run_);
    run_.spend(1);
    if (value.is_text()) {
      add(Json(value.text()).dump());
    } else if (value.is_none()) {
      add("null");
    } else if (value.is<bool>()) {
      add(value.boolean() ? "true" : "false");
    } else if (value.is_integer()) {
      add(plain(value));
    } else if (value.is<double>()) {
      const double number = value.number();
      add(std::isnan(number) ? "NaN" : std::isinf(number) ? (number > 0 ? "Infinity" : "-Infinity") : plain(value));
    } else if (const List* list = value.as_list(); list != nullptr && list->form != Form::generator) {
      json_items(list->items.size(), '[', ']', depth, [&](std::size_t i) { json(list->items[i], depth + 1); });
    } else if (const Dict* dict = value.as_dict()) {
      json_items(dict->members.size(), '{', '}', depth, [&](std::size_t i) {
        json_key(dict->members[i].first);
        add(": ");
        json(dict->members[i].second, depth + 1);
      });
    } else {
      run_.refuse("tojson: a value of type {} is not JSON's", type_name(value));
    }
  }

 private:
  void add(std::string_view text) {
    run_.spend_on_text(text.size() + Run::kBytesOfStep);
    text_ += text;
  }

  void represent_list(const List& list) {
    const bool is_tuple = list.form == Form::tuple;
    add(is_tuple ? "(" : "[");
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) add(", ");
      represent(list.items[i]);
    }
    add(is_tuple ? (list.items.size() == 1 ? ",)" : ")") : "]");
  }

  template <typename Write>
  void json_items(std::size_t count, char open, char close, int depth, const Write& write) {
    add(std::string_view(&open, 1));
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) add(indent_ ? "," : ", ");
      json_line(depth + 1);
      write(i);
    }
    if (count > 0) json_line(depth);
    add(std::string_view(&close, 1));
  }
  void json_line(int depth) {
    if (indent_) add("\n" + std::string(static_cast<std::size_t>(*indent_ * depth), ' '));
  }
  void json_key(const Value& key) {
    if (key.as_list() != nullptr || key.as_object() != nullptr || key.as_callable() != nullptr) {
      run_.refuse("tojson: a key of type {} is not JSON's", type_name(key));
    }
    if (key.is_text()) {
      json(key, 0);
    } else {
      add("\"");
      json(key, 0);
      add("\"");
    }
  }

  Run& run_;
  std::optional<Index> indent_;
  std::string text_;
};

}  // namespace

std::string printed(Run& run, const Value& value) {
  if (!value.is_text()) return value.is_undefined() ? std::string() : represented(run, value);
  run.spend_on_text(value.text().size());
  return value.text();
}

std::string represented(Run& run, const Value& value) {
  Writer writer(run);
  writer.represent(value);
  return std::move(writer).take();
}

std::string as_json(Run& run, const Value& value, std::optional<Index> indent) {
  constexpr Index kMostIndent = 64;
  if (indent && (*indent < 0 || *indent > kMostIndent)) {
    run.refuse("tojson: an indent of {} is not in 0 to {}", *indent, kMostIndent);
  }
  Writer writer(run, indent);
  writer.json(value, 0);
  return std::move(writer).take();
}

}  // namespace heed::jinja
