#include "heed/text/jinja/expression_parser.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "heed/base/printable.h"

namespace heed::jinja {
namespace {

using Kind = Expression::Kind;

std::string_view shown(const Token& token) {
  switch (token.kind) {
    case Token::Kind::text:
      return "text";
    case Token::Kind::print_begin:
      return "{{";
    case Token::Kind::tag_begin:
      return "{%";
    case Token::Kind::print_end:
    case Token::Kind::tag_end:
      return "the end of a tag";
    case Token::Kind::end:
      return "the end of the template";
    default:
      return token.text;
  }
}

int deepest_of(const CallArguments& arguments) {
  int deepest = 0;
  for (const auto& one : arguments.positional) deepest = std::max(deepest, one->depth);
  for (const auto& [name, one] : arguments.named) deepest = std::max(deepest, one->depth);
  if (arguments.more_positional) deepest = std::max(deepest, arguments.more_positional->depth);
  if (arguments.more_named) deepest = std::max(deepest, arguments.more_named->depth);
  return deepest;
}

template <typename... Parts>
std::vector<ExpressionPtr> parts_of(Parts... parts) {
  std::vector<ExpressionPtr> all;
  (all.push_back(std::move(parts)), ...);
  return all;
}

}  // namespace

Token ExpressionParser::take() {
  Token token = tokens_[at_];
  if (token.kind != Token::Kind::end) ++at_;
  run_.at_line(now().line);
  return token;
}

bool ExpressionParser::take_name(std::string_view name) {
  if (!is_name(name)) return false;
  take();
  return true;
}

bool ExpressionParser::take_sign(std::string_view sign) {
  if (!is_sign(sign)) return false;
  take();
  return true;
}

void ExpressionParser::expect_sign(std::string_view sign) {
  if (!take_sign(sign)) refuse_token(sign);
}

std::string ExpressionParser::expect_name() {
  if (now().kind != Token::Kind::name) refuse_token("a name");
  return take().text;
}

void ExpressionParser::refuse_token(std::string_view expected) const {
  run_.refuse("expected {}, but there is '{}'", expected, printable(shown(now())));
}

// A tree is as deep as what carries it out, and what deletes it.
ExpressionPtr ExpressionParser::made(Expression&& expression) const {
  int deepest = deepest_of(expression.arguments);
  for (const auto& part : expression.parts) deepest = std::max(deepest, part ? part->depth : 0);
  expression.depth = deepest + 1;
  if (expression.depth > Run::kDeepest) run_.refuse("more than {} expressions within each other", Run::kDeepest);
  return std::make_unique<const Expression>(std::move(expression));
}

ExpressionPtr ExpressionParser::of_parts(Kind kind, std::string name, std::vector<ExpressionPtr> parts) const {
  return made({.kind = kind, .line = run_.line(), .name = std::move(name), .parts = std::move(parts)});
}

ExpressionPtr ExpressionParser::expression(bool with_condition) {
  const Run::Level level(run_);
  ExpressionPtr value = alternatives();
  while (with_condition && take_name("if")) {
    std::vector<ExpressionPtr> parts = parts_of(std::move(value), alternatives());
    if (take_name("else")) parts.push_back(expression());
    value = of_parts(Kind::condition, "", std::move(parts));
  }
  return value;
}

bool ExpressionParser::ends_tuple(std::string_view ending) const {
  const Token::Kind kind = now().kind;
  return kind == Token::Kind::print_end || kind == Token::Kind::tag_end || is_sign(")") ||
         (!ending.empty() && is_name(ending));
}

ExpressionPtr ExpressionParser::tuple(bool with_condition, std::string_view ending) {
  std::vector<ExpressionPtr> parts;
  bool is_tuple = false;
  while (!ends_tuple(ending)) {
    parts.push_back(expression(with_condition));
    if (!take_sign(",")) break;
    is_tuple = true;
  }
  if (is_tuple) return of_parts(Kind::tuple, "", std::move(parts));
  if (parts.empty()) refuse_token("an expression");
  return std::move(parts.front());
}

ExpressionPtr ExpressionParser::target(bool may_be_attribute, std::string_view ending) {
  std::vector<ExpressionPtr> names;
  bool is_tuple = false;
  const bool has_bracket = take_sign("(");
  while (names.empty() || (!is_name(ending) && !is_sign("=") && !is_sign(")"))) {
    const std::string name = expect_name();
    for (const std::string_view other :
         {"true", "false", "none", "True", "False", "None", "and", "or", "not", "if", "else", "is", "in"}) {
      if (name == other) run_.refuse("'{}' cannot be set", name);
    }
    names.push_back(of_parts(Kind::name, name, {}));
    if (may_be_attribute && !is_tuple && names.size() == 1 && take_sign(".")) {
      return of_parts(Kind::attribute, expect_name(), std::move(names));
    }
    if (!take_sign(",")) break;
    is_tuple = true;
  }
  if (has_bracket) expect_sign(")");
  return is_tuple ? of_parts(Kind::tuple, "", std::move(names)) : std::move(names.front());
}

ExpressionPtr ExpressionParser::alternatives() {
  std::vector<ExpressionPtr> parts = parts_of(conjunction());
  while (take_name("or")) parts.push_back(conjunction());
  return parts.size() == 1 ? std::move(parts.front()) : of_parts(Kind::any_of, "", std::move(parts));
}

ExpressionPtr ExpressionParser::conjunction() {
  std::vector<ExpressionPtr> parts = parts_of(negation());
  while (take_name("and")) parts.push_back(negation());
  return parts.size() == 1 ? std::move(parts.front()) : of_parts(Kind::all_of, "", std::move(parts));
}

ExpressionPtr ExpressionParser::negation() {
  if (!take_name("not")) return comparison();
  const Run::Level level(run_);
  return of_parts(Kind::negation, "", parts_of(negation()));
}

ExpressionPtr ExpressionParser::comparison() {
  constexpr std::array<std::string_view, 6> kComparisons = {"==", "!=", "<", "<=", ">", ">="};
  std::vector<ExpressionPtr> parts = parts_of(sum());
  std::vector<std::string> signs;
  for (;;) {
    if (now().kind == Token::Kind::sign && std::ranges::find(kComparisons, now().text) != kComparisons.end()) {
      signs.push_back(take().text);
    } else if (take_name("in")) {
      signs.emplace_back("in");
    } else if (is_name("not") && tokens_[at_ + 1].kind == Token::Kind::name && tokens_[at_ + 1].text == "in") {
      take();
      take();
      signs.emplace_back("not in");
    } else {
      break;
    }
    parts.push_back(sum());
  }
  if (signs.empty()) return std::move(parts.front());
  return made({.kind = Kind::comparison, .line = run_.line(), .names = std::move(signs), .parts = std::move(parts)});
}

ExpressionPtr ExpressionParser::sum() {
  ExpressionPtr left = joined();
  while (is_sign("+") || is_sign("-")) {
    std::string sign = take().text;
    ExpressionPtr right = joined();
    left = of_parts(Kind::binary, std::move(sign), parts_of(std::move(left), std::move(right)));
  }
  return left;
}

ExpressionPtr ExpressionParser::joined() {
  std::vector<ExpressionPtr> parts = parts_of(product());
  while (take_sign("~")) parts.push_back(product());
  return parts.size() == 1 ? std::move(parts.front()) : of_parts(Kind::joined, "", std::move(parts));
}

ExpressionPtr ExpressionParser::product() {
  ExpressionPtr left = power();
  while (is_sign("*") || is_sign("/") || is_sign("//") || is_sign("%")) {
    std::string sign = take().text;
    ExpressionPtr right = power();
    left = of_parts(Kind::binary, std::move(sign), parts_of(std::move(left), std::move(right)));
  }
  return left;
}

ExpressionPtr ExpressionParser::power() {
  ExpressionPtr left = unary(true);
  while (take_sign("**")) {
    ExpressionPtr right = unary(true);
    left = of_parts(Kind::binary, "**", parts_of(std::move(left), std::move(right)));
  }
  return left;
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  const Run::Level level(run_);
  ExpressionPtr value;
  if (is_sign("-") || is_sign("+")) {
    std::string sign = take().text;
    ExpressionPtr inner = unary(false);
    value = of_parts(Kind::unary, std::move(sign), parts_of(std::move(inner)));
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return with_filters ? filters_and_tests(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::constant(Value value) const {
  return made({.kind = Kind::constant, .line = run_.line(), .value = std::move(value)});
}

ExpressionPtr ExpressionParser::primary() {
  if (is_sign("(")) {
    take();
    if (take_sign(")")) return of_parts(Kind::tuple, "", {});
    ExpressionPtr inner = tuple();
    expect_sign(")");
    return inner;
  }
  if (is_sign("[")) return list();
  if (is_sign("{")) return dict();
  switch (now().kind) {
    case Token::Kind::name: {
      const std::string name = take().text;
      if (name == "true" || name == "True" || name == "false" || name == "False") {
        return constant(Value(name == "true" || name == "True"));
      }
      if (name == "none" || name == "None") return constant(Value(None{}));
      return of_parts(Kind::name, name, {});
    }
    case Token::Kind::string: {
      std::string text = take().text;
      while (now().kind == Token::Kind::string) text += take().text;
      return constant(Value(std::move(text)));
    }
    case Token::Kind::integer:
    case Token::Kind::number:
      return number(take());
    default:
      refuse_token("an expression");
  }
}

ExpressionPtr ExpressionParser::number(const Token& token) const {
  const char* const begin = token.text.data();
  const char* const end = begin + token.text.size();
  if (token.kind == Token::Kind::integer) {
    std::int64_t whole = 0;
    if (std::from_chars(begin, end, whole).ec != std::errc()) run_.refuse("a whole number beyond 64 bits");
    return constant(Value(whole));
  }
  double number = 0;
  if (std::from_chars(begin, end, number).ec != std::errc()) run_.refuse("a number beyond double");
  return constant(Value(number));
}

ExpressionPtr ExpressionParser::list() {
  expect_sign("[");
  std::vector<ExpressionPtr> items;
  while (!is_sign("]")) {
    items.push_back(expression());
    if (!take_sign(",")) break;
  }
  expect_sign("]");
  return of_parts(Kind::list, "", std::move(items));
}

ExpressionPtr ExpressionParser::dict() {
  expect_sign("{");
  std::vector<ExpressionPtr> members;
  while (!is_sign("}")) {
    members.push_back(expression());
    expect_sign(":");
    members.push_back(expression());
    if (!take_sign(",")) break;
  }
  expect_sign("}");
  return of_parts(Kind::dict, "", std::move(members));
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr inner) {
  for (;;) {
    if (take_sign(".")) {
      if (now().kind == Token::Kind::integer) {
        ExpressionPtr index = number(take());
        inner = of_parts(Kind::item, "", parts_of(std::move(inner), std::move(index)));
      } else {
        std::string name = expect_name();
        inner = of_parts(Kind::attribute, std::move(name), parts_of(std::move(inner)));
      }
    } else if (is_sign("[")) {
      inner = subscript(std::move(inner));
    } else if (is_sign("(")) {
      inner = call(std::move(inner));
    } else {
      return inner;
    }
  }
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr inner) {
  expect_sign("[");
  std::vector<ExpressionPtr> parts = parts_of(std::move(inner));
  if (!is_sign(":")) {
    ExpressionPtr index = expression();
    if (take_sign("]")) {
      parts.push_back(std::move(index));
      return of_parts(Kind::item, "", std::move(parts));
    }
    parts.push_back(std::move(index));
  } else {
    parts.emplace_back();
  }
  for (int bound = 0; bound < 2; ++bound) {
    const bool is_given = take_sign(":") && !is_sign(":") && !is_sign("]");
    parts.push_back(is_given ? expression() : nullptr);
  }
  expect_sign("]");
  return of_parts(Kind::slice, "", std::move(parts));
}

CallArguments ExpressionParser::call_arguments() {
  CallArguments arguments;
  expect_sign("(");
  while (!is_sign(")")) {
    if (take_sign("*")) {
      arguments.more_positional = expression();
    } else if (take_sign("**")) {
      arguments.more_named = expression();
    } else if (now().kind == Token::Kind::name && tokens_[at_ + 1].kind == Token::Kind::sign &&
               tokens_[at_ + 1].text == "=") {
      std::string name = take().text;
      take();
      arguments.named.emplace_back(std::move(name), expression());
    } else {
      if (!arguments.named.empty()) run_.refuse("an argument without a name stands behind one with a name");
      arguments.positional.push_back(expression());
    }
    if (!take_sign(",")) break;
  }
  expect_sign(")");
  return arguments;
}

ExpressionPtr ExpressionParser::call(ExpressionPtr inner) {
  const int line = run_.line();
  CallArguments arguments = call_arguments();
  return made(
      {.kind = Kind::call, .line = line, .parts = parts_of(std::move(inner)), .arguments = std::move(arguments)});
}

ExpressionPtr ExpressionParser::filters_and_tests(ExpressionPtr inner) {
  for (;;) {
    if (is_sign("|")) {
      take();
      inner = filter(std::move(inner));
    } else if (take_name("is")) {
      inner = test(std::move(inner));
    } else if (is_sign("(")) {
      inner = call(std::move(inner));
    } else {
      return inner;
    }
  }
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr inner) {
  while (take_sign("|")) inner = filter(std::move(inner));
  return inner;
}

ExpressionPtr ExpressionParser::filters_of_tag() { return filters(filter(nullptr)); }

ExpressionPtr ExpressionParser::filter(ExpressionPtr inner) {
  const int line = run_.line();
  std::string name = expect_name();
  CallArguments arguments = is_sign("(") ? call_arguments() : CallArguments();
  return made({.kind = Kind::filter,
               .line = line,
               .name = std::move(name),
               .parts = parts_of(std::move(inner)),
               .arguments = std::move(arguments)});
}

ExpressionPtr ExpressionParser::test(ExpressionPtr inner) {
  const int line = run_.line();
  const bool is_negated = take_name("not");
  std::string name = expect_name();
  CallArguments arguments;
  const bool may_begin = now().kind == Token::Kind::name || now().kind == Token::Kind::string ||
                         now().kind == Token::Kind::integer || now().kind == Token::Kind::number || is_sign("[") ||
                         is_sign("{");
  if (is_sign("(")) {
    arguments = call_arguments();
  } else if (may_begin && !is_name("else") && !is_name("or") && !is_name("and")) {
    if (is_name("is")) run_.refuse("a test stands behind another");
    arguments.positional.push_back(postfix(primary()));
  }
  ExpressionPtr tested = made({.kind = Kind::test,
                               .line = line,
                               .name = std::move(name),
                               .parts = parts_of(std::move(inner)),
                               .arguments = std::move(arguments)});
  return is_negated ? of_parts(Kind::negation, "", parts_of(std::move(tested))) : std::move(tested);
}

}  // namespace heed::jinja
