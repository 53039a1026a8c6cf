// --long-lines: what a command does about lines that are too long for the model.
//
//   add_long_lines(*sub, command->long_lines);
//   LongLineWarning warning(name, command.long_lines);
//   warning.add(translator.long_lines());
//   warning.print();
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <span>
#include <string>

#include "heed/base/index.h"
#include "heed/tasks/translate.h"

namespace heed::cli {

// Adds the option, which sets `value`.
CLI::Option* add_long_lines(CLI::App& command, LongLines& value);

// Gathers the lines of a text that were too long, for one warning about all of them.
class LongLineWarning {
 public:
  LongLineWarning(std::string text_name, LongLines treatment) : name_(std::move(text_name)), treatment_(treatment) {}

  void add(std::span<const Index> lines) { lines_.insert(lines.begin(), lines.end()); }
  // Says how many there are, and which the first of them are, on standard error; nothing where there are none.
  void print() const;

 private:
  std::string name_;
  LongLines treatment_;
  std::set<Index> lines_;
};

}  // namespace heed::cli
