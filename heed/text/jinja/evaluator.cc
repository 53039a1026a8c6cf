#include "heed/text/jinja/evaluator.h"

#include <algorithm>

#include "heed/base/printable.h"
#include "heed/text/jinja/filters.h"
#include "heed/text/jinja/operators.h"
#include "heed/text/jinja/printing.h"
#include "heed/text/jinja/tests.h"

namespace heed::jinja {
namespace {

using ScopePtr = std::shared_ptr<Scope>;
constexpr Index kStepsOfScope = 4;  // which takes as long to make
enum class Flow { goes_on, next_item, last_item };

class Evaluator {
 public:
  explicit Evaluator(Run& run) : run_(run) {}

  Flow carry_out(const Block& block, const ScopePtr& scope);
  std::string take_output() && { return std::move(output_); }

 private:
  Value value_of(const Expression& expression, const ScopePtr& scope);
  Value of_operation(const Expression& expression, const ScopePtr& scope);
  std::vector<Value> values_of(const std::vector<ExpressionPtr>& parts, const ScopePtr& scope);
  Value value_or_undefined(const ExpressionPtr& expression, const ScopePtr& scope) {
    return expression ? value_of(*expression, scope) : Value();
  }
  Value any_or_all(const Expression& expression, const ScopePtr& scope);
  Value joined(const Expression& expression, const ScopePtr& scope);
  Value comparison(const Expression& expression, const ScopePtr& scope);
  Value dict(const Expression& expression, const ScopePtr& scope);
  Value filter(const Expression& expression, const ScopePtr& scope);
  Value call(const Expression& expression, const ScopePtr& scope, const Value* caller = nullptr);
  Arguments arguments(const CallArguments& given, const ScopePtr& scope);

  Flow carry_out(const Statement& statement, const ScopePtr& scope);
  Flow choice(const Statement& statement, const ScopePtr& scope);
  Flow loop(const Statement& statement, const ScopePtr& scope);
  void print(std::string_view text) {
    run_.spend_on_text(text.size());
    output_ += text;
  }
  // What a block prints.
  std::string captured(const Block& block, const ScopePtr& scope);
  // The same through filters, if any.
  Value captured_and_filtered(const Statement& statement, const ScopePtr& scope);
  void assign(const Expression& target, const Value& value, const ScopePtr& scope);
  Value macro(const Statement& statement, const ScopePtr& scope);
  Value called(const Statement& macro, const ScopePtr& around, Arguments given);

  Run& run_;
  std::string output_;
  Value to_filter_;  // what the filters of a tag are applied to
};

Value Evaluator::value_of(const Expression& expression, const ScopePtr& scope) {
  using Kind = Expression::Kind;
  const Run::Level level(run_);
  run_.spend(1);
  run_.at_line(expression.line);
  switch (expression.kind) {
    case Kind::constant:
      return expression.value;
    case Kind::name:
      return scope->find(expression.name);
    case Kind::list:
      return Value::list(run_, values_of(expression.parts, scope));
    case Kind::tuple:
      return Value::list(run_, values_of(expression.parts, scope), Form::tuple);
    case Kind::dict:
      return dict(expression, scope);
    case Kind::any_of:
    case Kind::all_of:
      return any_or_all(expression, scope);
    case Kind::negation:
      return Value(!truth(value_of(*expression.parts[0], scope)));
    case Kind::joined:
      return joined(expression, scope);
    case Kind::comparison:
      return comparison(expression, scope);
    case Kind::condition:
      if (truth(value_of(*expression.parts[1], scope))) return value_of(*expression.parts[0], scope);
      if (expression.parts.size() > 2) return value_of(*expression.parts[2], scope);
      return Value::undefined("the condition of an expression does not hold, and it has no 'else'");
    case Kind::filter:
      return filter(expression, scope);
    case Kind::call:
      return call(expression, scope);
    default:
      return of_operation(expression, scope);
  }
}

// What is made of values of its parts, whatever they are.
Value Evaluator::of_operation(const Expression& expression, const ScopePtr& scope) {
  using Kind = Expression::Kind;
  const std::vector<Value> parts = values_of(expression.parts, scope);
  run_.at_line(expression.line);
  switch (expression.kind) {
    case Kind::unary:
      return signed_value(run_, expression.name, parts[0]);
    case Kind::binary:
      return calculated(run_, expression.name, parts[0], parts[1]);
    case Kind::attribute:
      return attribute_of(run_, parts[0], expression.name);
    case Kind::item:
      return item_of(run_, parts[0], parts[1]);
    case Kind::slice:
      return slice_of(run_, parts[0], parts[1], parts[2], parts[3]);
    default:  // a test
      return Value(passes_test(run_, expression.name, parts[0], arguments(expression.arguments, scope)));
  }
}

std::vector<Value> Evaluator::values_of(const std::vector<ExpressionPtr>& parts, const ScopePtr& scope) {
  std::vector<Value> values;
  values.reserve(parts.size());
  for (const ExpressionPtr& part : parts) values.push_back(value_or_undefined(part, scope));
  return values;
}

Value Evaluator::any_or_all(const Expression& expression, const ScopePtr& scope) {
  Value last;
  for (const ExpressionPtr& part : expression.parts) {
    last = value_of(*part, scope);
    if (truth(last) == (expression.kind == Expression::Kind::any_of)) break;
  }
  return last;
}

Value Evaluator::joined(const Expression& expression, const ScopePtr& scope) {
  std::string text;
  for (const ExpressionPtr& part : expression.parts) text += printed(run_, value_of(*part, scope));
  run_.spend_on_text(text.size());
  return Value(std::move(text));
}

Value Evaluator::comparison(const Expression& expression, const ScopePtr& scope) {
  Value left = value_of(*expression.parts[0], scope);
  for (std::size_t i = 0; i < expression.names.size(); ++i) {
    Value right = value_of(*expression.parts[i + 1], scope);
    run_.at_line(expression.line);
    if (!compared(run_, expression.names[i], left, right)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Evaluator::dict(const Expression& expression, const ScopePtr& scope) {
  std::vector<std::pair<Value, Value>> members;
  for (std::size_t i = 0; i < expression.parts.size(); i += 2) {
    const Value key = value_of(*expression.parts[i], scope);
    set_member(run_, members, key, value_of(*expression.parts[i + 1], scope));
  }
  return Value::dict(run_, std::move(members));
}

Value Evaluator::filter(const Expression& expression, const ScopePtr& scope) {
  const Value value = expression.parts[0] ? value_of(*expression.parts[0], scope) : to_filter_;
  const Arguments given = arguments(expression.arguments, scope);
  run_.at_line(expression.line);
  return filtered(run_, expression.name, value, given);
}

Arguments Evaluator::arguments(const CallArguments& given, const ScopePtr& scope) {
  Arguments all;
  all.positional = values_of(given.positional, scope);
  for (const auto& [name, expression] : given.named) all.named.emplace_back(name, value_of(*expression, scope));
  if (given.more_positional) {
    for (Value& item : items_of(run_, value_of(*given.more_positional, scope)))
      all.positional.push_back(std::move(item));
  }
  if (given.more_named) {
    const Value more = value_of(*given.more_named, scope);
    if (more.as_dict() == nullptr) run_.refuse("what stands behind '**' must be a dict, and is {}", type_name(more));
    for (const auto& [name, value] : more.as_dict()->members) all.named.emplace_back(printed(run_, name), value);
  }
  return all;
}

Value Evaluator::call(const Expression& expression, const ScopePtr& scope, const Value* caller) {
  const Value callee = value_of(*expression.parts[0], scope);
  Arguments given = arguments(expression.arguments, scope);
  if (caller != nullptr) given.named.emplace_back("caller", *caller);
  run_.at_line(expression.line);
  must_be_defined(run_, callee);
  const Callable* const callable = callee.as_callable();
  if (callable == nullptr) run_.refuse("what is called is of type {}", type_name(callee));
  return callable->call(run_, given);
}

Flow Evaluator::carry_out(const Block& block, const ScopePtr& scope) {
  for (const Statement& statement : block) {
    run_.spend(1);
    run_.at_line(statement.line);
    const Flow flow = carry_out(statement, scope);
    if (flow != Flow::goes_on) return flow;
  }
  return Flow::goes_on;
}

Flow Evaluator::carry_out(const Statement& statement, const ScopePtr& scope) {
  using Kind = Statement::Kind;
  const Run::Level level(run_);
  switch (statement.kind) {
    case Kind::text:
      print(statement.name);
      return Flow::goes_on;
    case Kind::print:
      print(printed(run_, value_of(*statement.value, scope)));
      return Flow::goes_on;
    case Kind::choice:
      return choice(statement, scope);
    case Kind::loop:
      return loop(statement, scope);
    case Kind::assignment:
      assign(*statement.target, value_of(*statement.value, scope), scope);
      return Flow::goes_on;
    case Kind::capture:
      assign(*statement.target, captured_and_filtered(statement, scope), scope);
      return Flow::goes_on;
    case Kind::filtered:
      print(printed(run_, captured_and_filtered(statement, scope)));
      return Flow::goes_on;
    case Kind::macro:
      scope->set(statement.name, macro(statement, scope));
      return Flow::goes_on;
    case Kind::call: {
      const Value caller = macro(statement, scope);
      print(printed(run_, call(*statement.value, scope, &caller)));
      return Flow::goes_on;
    }
    case Kind::scope: {
      const auto inner = std::make_shared<Scope>(scope);
      for (const Parameter& one : statement.parameters) inner->set(one.name, value_of(*one.otherwise, scope));
      return carry_out(statement.body, inner);
    }
    case Kind::passage:
      return carry_out(statement.body, scope);
    case Kind::next_item:
      return Flow::next_item;
    case Kind::last_item:
      return Flow::last_item;
  }
  return Flow::goes_on;
}

Flow Evaluator::choice(const Statement& statement, const ScopePtr& scope) {
  for (const Branch& branch : statement.branches) {
    if (!branch.condition || truth(value_of(*branch.condition, scope))) return carry_out(branch.body, scope);
  }
  return Flow::goes_on;
}

Flow Evaluator::loop(const Statement& statement, const ScopePtr& scope) {
  std::vector<Value> items = items_of(run_, value_of(*statement.value, scope));
  if (statement.condition) {
    std::vector<Value> kept;
    for (Value& item : items) {
      const auto inner = std::make_shared<Scope>(scope);
      assign(*statement.target, item, inner);
      if (truth(value_of(*statement.condition, inner))) kept.push_back(std::move(item));
    }
    items = std::move(kept);
  }
  if (items.empty()) {
    if (statement.branches.empty()) return Flow::goes_on;
    return carry_out(statement.branches.front().body, std::make_shared<Scope>(scope));
  }
  const auto here = std::make_shared<Loop>(Value::list(run_, std::move(items)));
  for (std::size_t i = 0; i < here->size(); ++i) {
    run_.spend(kStepsOfScope);
    here->go_to(i);
    const auto inner = std::make_shared<Scope>(scope);
    inner->set("loop", Value(std::shared_ptr<Object>(here)));
    assign(*statement.target, here->item(), inner);
    if (carry_out(statement.body, inner) == Flow::last_item) break;
  }
  return Flow::goes_on;
}

std::string Evaluator::captured(const Block& block, const ScopePtr& scope) {
  std::string before = std::exchange(output_, {});
  carry_out(block, scope);
  return std::exchange(output_, std::move(before));
}

Value Evaluator::captured_and_filtered(const Statement& statement, const ScopePtr& scope) {
  Value text(captured(statement.body, std::make_shared<Scope>(scope)));
  if (!statement.value) return text;
  to_filter_ = std::move(text);
  return value_of(*statement.value, scope);
}

void Evaluator::assign(const Expression& target, const Value& value, const ScopePtr& scope) {
  if (target.kind == Expression::Kind::name) {
    scope->set(target.name, value);
  } else if (target.kind == Expression::Kind::attribute) {
    Namespace* const space = value_of(*target.parts[0], scope).as_namespace();
    if (space == nullptr) run_.refuse("'{}' is set of what is no namespace", printable(target.name));
    space->set(run_, target.name, value);
  } else {
    must_be_defined(run_, value);
    const std::vector<Value> items = items_of(run_, value);
    if (items.size() != target.parts.size()) {
      run_.refuse("{} values are given to {} names", items.size(), target.parts.size());
    }
    for (std::size_t i = 0; i < items.size(); ++i) scope->set(target.parts[i]->name, items[i]);
  }
}

Value Evaluator::macro(const Statement& statement, const ScopePtr& scope) {
  scope->keep(run_);
  const std::string name = statement.name.empty() ? "caller" : statement.name;
  return Value::callable(
      run_, name, [this, &statement, scope](Run&, const Arguments& given) { return called(statement, scope, given); });
}

Value Evaluator::called(const Statement& macro, const ScopePtr& around, Arguments given) {
  const Run::Level level(run_);
  const auto inner = std::make_shared<Scope>(around);
  const auto caller =
      std::ranges::find(given.named, "caller", [](const auto& one) { return std::string_view(one.first); });
  if (caller != given.named.end()) {
    inner->set("caller", caller->second);
    given.named.erase(caller);
  }
  std::vector<std::string_view> names;
  for (const Parameter& one : macro.parameters) names.push_back(one.name);
  const auto values = given.bound(run_, macro.name.empty() ? "caller" : macro.name, names);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Parameter& one = macro.parameters[i];
    if (values[i]) {
      inner->set(one.name, *values[i]);
    } else if (one.otherwise) {
      inner->set(one.name, value_of(*one.otherwise, inner));
    } else {
      inner->set(one.name, Value::undefined(fmt::format("parameter '{}' was not given", printable(one.name))));
    }
  }
  return Value(captured(macro.body, inner));
}

}  // namespace

std::string carried_out(Run& run, const Block& block, const std::shared_ptr<Scope>& scope) {
  Evaluator evaluator(run);
  evaluator.carry_out(block, scope);
  return std::move(evaluator).take_output();
}

}  // namespace heed::jinja
