#include "heed/text/jinja/scope.h"

#include "heed/base/printable.h"

namespace heed::jinja {

Value Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_.get()) {
    if (const auto found = scope->names_.find(name); found != scope->names_.end()) return found->second;
  }
  return Value::undefined(fmt::format("'{}' is undefined", printable(name)));
}

void Scope::keep(Run& run) {
  for (Scope* scope = this; scope != nullptr && !scope->is_kept_; scope = scope->outer_.get()) {
    run.keep(scope->shared_from_this());
    scope->is_kept_ = true;
  }
}

std::optional<Value> Loop::attribute(Run& run, std::string_view name) const {
  const auto number = [](std::size_t value) { return Value(static_cast<std::int64_t>(value)); };
  const auto neighbour = [&](bool is_there, std::size_t at) {
    return is_there ? items_.as_list()->items[at] : Value::undefined(fmt::format("there is no {}", name));
  };
  if (name == "index") return number(index_ + 1);
  if (name == "index0") return number(index_);
  if (name == "revindex") return number(size() - index_);
  if (name == "revindex0") return number(size() - index_ - 1);
  if (name == "first") return Value(index_ == 0);
  if (name == "last") return Value(index_ + 1 == size());
  if (name == "length") return number(size());
  if (name == "depth") return number(1);
  if (name == "depth0") return number(0);
  if (name == "previtem") return neighbour(index_ > 0, index_ - 1);
  if (name == "nextitem") return neighbour(index_ + 1 < size(), index_ + 1);
  if (name != "cycle") return std::nullopt;
  return Value::callable(run, "cycle", [at = index_](Run& now, const Arguments& arguments) {
    if (arguments.positional.empty()) now.refuse("'loop.cycle' wants values");
    return arguments.positional[at % arguments.positional.size()];
  });
}

}  // namespace heed::jinja
