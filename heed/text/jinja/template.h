// Templates in Jinja, as they come with models that were taught to answer.
//
//   const jinja::Template hello("Hi {{ name }}!", "a place that errors name");
//   hello.render([](jinja::Run&) -> jinja::Template::Names { return {{"name", jinja::Value("you")}}; });   // "Hi you!"
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/jinja/syntax.h"

namespace heed::jinja {

// What Hugging Face's transformers make of a template of chats: Jinja2's ImmutableSandboxedEnvironment with
// trim_blocks, lstrip_blocks and loopcontrols. What is not read is refused by name. Tags: if, for, set, macro, call,
// with, filter, raw, generation (as if it was not there), break, continue. Nothing is compiled: a rendering walks over
// the tree.
class Template {
 public:
  using Names = std::vector<std::pair<std::string, Value>>;

  // Throws heed::Error that begins with `place` and the line for what is no template.
  Template(std::string_view source, std::string place);

  // The text with these names, beside the functions of globals.h. Throws heed::Error for what Jinja2 refuses, for
  // messages of raise_exception, and for what takes more than a Run allows. May be called from many threads.
  std::string render(const std::function<Names(Run&)>& names) const;

 private:
  std::string place_;
  Block block_;
};

}  // namespace heed::jinja
