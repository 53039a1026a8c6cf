#include "heed/text/jinja/parser.h"

#include <algorithm>
#include <initializer_list>

#include "heed/base/printable.h"
#include "heed/text/jinja/expression_parser.h"

namespace heed::jinja {
namespace {

using Do = Statement::Kind;

class StatementParser {
 public:
  StatementParser(std::vector<Token> tokens, Run& run) : tokens_(std::move(tokens), run), run_(run) {}

  Block run() {
    Block all = body({});
    if (tokens_.now().kind != Token::Kind::end) tokens_.refuse_token("the end of the template");
    return all;
  }

 private:
  // Statements up to a tag of one of these names, of which `tag_begin` and the name are taken.
  Block body(std::initializer_list<std::string_view> ends) {
    const Run::Level level(run_);
    Block all;
    for (;;) {
      const Token token = tokens_.take();
      if (token.kind == Token::Kind::text) {
        all.push_back({.kind = Do::text, .line = token.line, .name = token.text});
      } else if (token.kind == Token::Kind::print_begin) {
        all.push_back({.kind = Do::print, .line = token.line, .value = tokens_.tuple()});
        end(Token::Kind::print_end);
      } else if (token.kind == Token::Kind::tag_begin) {
        const std::string tag = ended_by_ = tokens_.expect_name();
        if (std::ranges::find(ends, tag) != ends.end()) return all;
        all.push_back(statement(tag, token.line));
      } else {
        if (ends.size() > 0) run_.refuse("the template ends before '{}'", *(ends.end() - 1));
        return all;
      }
    }
  }
  void end(Token::Kind kind) {
    if (tokens_.now().kind != kind) tokens_.refuse_token(kind == Token::Kind::print_end ? "}}" : "%}");
    tokens_.take();
  }
  void end_tag() { end(Token::Kind::tag_end); }
  Block body_to(std::string_view name) {
    Block all = body({name});
    end_tag();
    return all;
  }

  Statement statement(const std::string& tag, int line) {
    if (tag == "if") return choice(line);
    if (tag == "for") return loop(line);
    if (tag == "set") return assignment(line);
    if (tag == "macro") return macro(line);
    if (tag == "call") return call(line);
    if (tag == "with") return scope(line);
    if (tag == "filter") {
      Statement made{.kind = Do::filtered, .line = line, .value = tokens_.filters_of_tag()};
      end_tag();
      made.body = body_to("endfilter");
      return made;
    }
    if (tag == "generation") {
      end_tag();
      return {.kind = Do::passage, .line = line, .body = body_to("endgeneration")};
    }
    if (tag == "break" || tag == "continue") {
      if (loops_ == 0) run_.refuse("'{}' is not in a loop", tag);
      end_tag();
      return {.kind = tag == "break" ? Do::last_item : Do::next_item, .line = line};
    }
    run_.refuse("the tag '{}' is none that heed reads, or is out of place", printable(tag));
  }

  Statement choice(int line) {
    Statement made{.kind = Do::choice, .line = line};
    for (;;) {
      ExpressionPtr condition = ended_by_ == "else" ? nullptr : tokens_.tuple(false);
      const bool is_last = condition == nullptr;
      end_tag();
      Block inner = is_last ? body({"endif"}) : body({"elif", "else", "endif"});
      made.branches.push_back({std::move(condition), std::move(inner)});
      if (ended_by_ == "endif") break;
    }
    end_tag();
    return made;
  }

  Statement loop(int line) {
    Statement made{.kind = Do::loop, .line = line, .target = tokens_.target(false, "in")};
    if (!tokens_.take_name("in")) tokens_.refuse_token("in");
    made.value = tokens_.tuple(false, "recursive");
    if (tokens_.take_name("if")) made.condition = tokens_.expression();
    if (tokens_.is_name("recursive")) run_.refuse("a loop that calls itself is not read here");
    end_tag();
    ++loops_;
    made.body = body({"else", "endfor"});
    --loops_;
    if (ended_by_ == "else") {
      end_tag();
      made.branches.push_back({nullptr, body({"endfor"})});
    }
    end_tag();
    return made;
  }

  Statement assignment(int line) {
    Statement made{.kind = Do::assignment, .line = line, .target = tokens_.target(true)};
    if (tokens_.take_sign("=")) {
      made.value = tokens_.tuple();
      end_tag();
      return made;
    }
    made.kind = Do::capture;
    if (tokens_.take_sign("|")) made.value = tokens_.filters_of_tag();
    end_tag();
    made.body = body_to("endset");
    return made;
  }

  std::vector<Parameter> parameters() {
    std::vector<Parameter> all;
    tokens_.expect_sign("(");
    while (!tokens_.is_sign(")")) {
      Parameter one{tokens_.expect_name(), nullptr};
      if (tokens_.take_sign("=")) {
        one.otherwise = tokens_.expression();
      } else if (!all.empty() && all.back().otherwise) {
        run_.refuse("the parameter '{}' has no default, and stands behind one that has", printable(one.name));
      }
      all.push_back(std::move(one));
      if (!tokens_.take_sign(",")) break;
    }
    tokens_.expect_sign(")");
    return all;
  }

  // A macro's body is in no loop, wherever it stands.
  Block body_of_its_own(std::string_view end) {
    const int loops = std::exchange(loops_, 0);
    end_tag();
    Block all = body_to(end);
    loops_ = loops;
    return all;
  }

  Statement macro(int line) {
    Statement made{.kind = Do::macro, .line = line, .name = tokens_.expect_name()};
    made.parameters = parameters();
    made.body = body_of_its_own("endmacro");
    return made;
  }

  Statement call(int line) {
    Statement made{.kind = Do::call, .line = line};
    if (tokens_.is_sign("(")) made.parameters = parameters();
    made.value = tokens_.expression();
    if (made.value->kind != Expression::Kind::call) run_.refuse("expected a call behind 'call'");
    made.body = body_of_its_own("endcall");
    return made;
  }

  Statement scope(int line) {
    Statement made{.kind = Do::scope, .line = line};
    while (tokens_.now().kind != Token::Kind::tag_end) {
      if (!made.parameters.empty()) tokens_.expect_sign(",");
      std::string name = tokens_.expect_name();
      tokens_.expect_sign("=");
      made.parameters.push_back({std::move(name), tokens_.expression()});
    }
    end_tag();
    made.body = body_to("endwith");
    return made;
  }

  ExpressionParser tokens_;
  Run& run_;
  int loops_ = 0;
  std::string ended_by_;  // the name of the last tag that ended a body
};

}  // namespace

Block parse(std::string_view source, Run& run) { return StatementParser(tokens_of(source, run), run).run(); }

}  // namespace heed::jinja
