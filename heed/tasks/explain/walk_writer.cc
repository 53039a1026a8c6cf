#include "heed/tasks/explain/walk_writer.h"

#include <fmt/core.h>

#include <utility>

namespace heed {

WalkWriter::WalkWriter(std::string name, Language language) : name_(std::move(name)), words_(language) {
  walk_.walk = name_;
  walk_.language = language;
  walk_.title = words_.title(name_);
  walk_.introduction = words_.text(name_);
}

ExplanationStep& WalkWriter::add(std::string_view name, std::string formula, std::vector<LabelledMatrix> matrices,
                                 std::string_view which) {
  const std::string key = fmt::format("{}.{}{}{}", name_, name, which.empty() ? "" : ".", which);
  walk_.steps.push_back({.name = std::string(name),
                         .title = words_.title(key),
                         .formula = std::move(formula),
                         .meaning = words_.text(key),
                         .matrices = std::move(matrices)});
  return walk_.steps.back();
}

void WalkWriter::say(std::string_view key, std::initializer_list<std::string> values) {
  std::string& meaning = walk_.steps.back().meaning;
  if (words_.language() == Language::english && !meaning.empty()) meaning += ' ';  // Chinese parts sentences by nothing
  meaning += words_.text(fmt::format("{}.{}", name_, key), values);
}

Explanation WalkWriter::finish(std::vector<LabelledMatrix> pictured) && {
  walk_.pictured = std::move(pictured);
  return std::move(walk_);
}

}  // namespace heed
