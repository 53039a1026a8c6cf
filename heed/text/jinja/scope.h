// What names mean in a part of a template.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

// The names that a part has set, within those of what is around it.
class Scope final : public Kept, public std::enable_shared_from_this<Scope> {
 public:
  explicit Scope(std::shared_ptr<Scope> outer = nullptr) : outer_(std::move(outer)) {}

  // Here or further out; undefined where it is nowhere.
  Value find(std::string_view name) const;
  void set(std::string_view name, Value value) { names_.insert_or_assign(std::string(name), std::move(value)); }
  // Has the run keep it and those further out, once: for a macro that sees them.
  void keep(Run& run);
  void forget() override { names_.clear(); }

 private:
  std::shared_ptr<Scope> outer_;
  std::map<std::string, Value, std::less<>> names_;
  bool is_kept_ = false;
};

// `loop`: where a loop is.
class Loop final : public Object {
 public:
  // Of a list.
  explicit Loop(Value items) : items_(std::move(items)) {}

  std::size_t size() const { return items_.as_list()->items.size(); }
  const Value& item() const { return items_.as_list()->items[index_]; }
  void go_to(std::size_t index) { index_ = index; }

  std::string_view type() const override { return "LoopContext"; }
  // index, index0, revindex, revindex0, first, last, length, depth, depth0, previtem, nextitem and cycle.
  std::optional<Value> attribute(Run& run, std::string_view name) const override;
  int depth() const override { return items_.as_list()->depth; }
  void forget() override {}

 private:
  Value items_;
  std::size_t index_ = 0;
};

}  // namespace heed::jinja
