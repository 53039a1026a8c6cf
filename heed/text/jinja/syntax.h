// A template as a tree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr more_positional, more_named;  // *a, **b; or null
};

struct Expression {
  enum class Kind {
    constant,    // value
    name,        // name
    list,        // parts
    tuple,       // parts
    dict,        // parts: key, value, key, value
    all_of,      // parts: a and b and c
    any_of,      // parts: a or b or c
    negation,    // not parts[0]
    unary,       // name: the sign
    binary,      // name: the sign, parts: both sides
    joined,      // parts: a ~ b ~ c
    comparison,  // names: the signs, "in" and "not in"; parts: one more
    condition,   // parts: what is where parts[1] is, else parts[2], which may be missing
    attribute,   // parts[0].name
    item,        // parts[0][parts[1]]
    slice,       // parts[0][parts[1]:parts[2]:parts[3]], of which all but the first may be null
    call,        // parts[0](arguments)
    filter,      // parts[0] | name(arguments); parts[0] is null for what stands in the tags `filter` and `set`
    test,        // parts[0] is name(arguments)
  };
  Kind kind;
  int line;
  std::string name = {};
  Value value = {};
  std::vector<std::string> names = {};
  std::vector<ExpressionPtr> parts = {};
  CallArguments arguments = {};
  int depth = 1;  // of the tree
};

struct Statement;
using Block = std::vector<Statement>;

struct Parameter {
  std::string name;
  ExpressionPtr otherwise;  // null: undefined
};

struct Branch {
  ExpressionPtr condition;  // null: else
  Block body;
};

struct Statement {
  enum class Kind {
    text,        // name: printed as it stands
    print,       // value
    choice,      // branches
    loop,        // target, value, condition (or null), body, branches[0] if there were no items
    assignment,  // target = value
    capture,     // target = what body prints, through the filters of value (or null)
    filtered,    // what body prints, through the filters of value
    macro,       // name, parameters, body
    call,        // value, a call, of a macro to which body with parameters is caller()
    scope,       // parameters with values, then body: names of its own
    passage,     // body: of tags that mean something to training alone
    next_item,   // continue
    last_item,   // break
  };
  Kind kind;
  int line;
  std::string name = {};
  ExpressionPtr value = {}, condition = {};
  ExpressionPtr target = {};  // a name, an attribute of a namespace, or a tuple of names
  std::vector<Parameter> parameters = {};
  std::vector<Branch> branches = {};
  Block body = {};
};

}  // namespace heed::jinja
