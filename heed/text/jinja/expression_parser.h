// The expressions of a template's tags, from tokens to a tree: Jinja2's grammar, with its ranks of operators.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "heed/text/jinja/lexer.h"
#include "heed/text/jinja/syntax.h"

namespace heed::jinja {

class ExpressionParser {
 public:
  // Of tokens that end with Token::Kind::end.
  ExpressionParser(std::vector<Token> tokens, Run& run) : tokens_(std::move(tokens)), run_(run) {}

  const Token& now() const { return tokens_[at_]; }
  // The token, behind which it goes on.
  Token take();
  bool is_name(std::string_view name) const { return now().kind == Token::Kind::name && now().text == name; }
  bool is_sign(std::string_view sign) const { return now().kind == Token::Kind::sign && now().text == sign; }
  bool take_name(std::string_view name);
  bool take_sign(std::string_view sign);
  void expect_sign(std::string_view sign);
  std::string expect_name();
  [[noreturn]] void refuse_token(std::string_view expected) const;
  Run& run() const { return run_; }

  ExpressionPtr expression(bool with_condition = true);
  // An expression, or several with commas between them. The names end it, too.
  ExpressionPtr tuple(bool with_condition = true, std::string_view ending = "");
  // What a loop or an assignment sets: a name, names, or an attribute of a namespace where that may be.
  ExpressionPtr target(bool may_be_attribute, std::string_view ending = "");
  // Filters behind "|" that are applied to what is to come: null where there are none.
  ExpressionPtr filters(ExpressionPtr inner);
  // Of the tag `filter`, whose first has no "|".
  ExpressionPtr filters_of_tag();

 private:
  ExpressionPtr made(Expression&& expression) const;
  ExpressionPtr of_parts(Expression::Kind kind, std::string name, std::vector<ExpressionPtr> parts) const;
  ExpressionPtr alternatives();
  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr joined();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filters);
  ExpressionPtr primary();
  ExpressionPtr constant(Value value) const;
  ExpressionPtr number(const Token& token) const;
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr inner);
  ExpressionPtr filters_and_tests(ExpressionPtr inner);
  ExpressionPtr filter(ExpressionPtr inner);
  ExpressionPtr test(ExpressionPtr inner);
  ExpressionPtr call(ExpressionPtr inner);
  ExpressionPtr subscript(ExpressionPtr inner);
  CallArguments call_arguments();
  bool ends_tuple(std::string_view ending) const;

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Run& run_;
};

}  // namespace heed::jinja
