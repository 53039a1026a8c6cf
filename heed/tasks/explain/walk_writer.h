// Builds an explanation step by step, with the words of its language.
//
//   WalkWriter walk("bahdanau", Language::chinese);
//   walk.add("energies", "e_j = v_a . hidden_j", {matrix});     // the words of "bahdanau.energies"
//   return std::move(walk).finish(pictured);
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tasks/explain/explanation.h"

namespace heed {

class WalkWriter {
 public:
  // `name` is what --example calls the walk, and what its keys in the table of words begin with.
  WalkWriter(std::string name, Language language);

  // Adds a step, whose title and meaning are the words of "<walk>.<name>" or, for one of several cases,
  // "<walk>.<name>.<which>".
  ExplanationStep& add(std::string_view name, std::string formula, std::vector<LabelledMatrix> matrices,
                       std::string_view which = {});
  // Adds a sentence to the last step's meaning: the text of "<walk>.<key>".
  void say(std::string_view key, std::initializer_list<std::string> values = {});

  // The walk, with what a picture of it shows.
  Explanation finish(std::vector<LabelledMatrix> pictured) &&;

 private:
  std::string name_;
  Words words_;
  Explanation walk_;
};

}  // namespace heed
