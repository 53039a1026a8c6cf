#include "heed/tasks/explain/words.h"

#include <fmt/args.h>
#include <fmt/core.h>

#include "heed/base/check.h"
#include "heed/tasks/explain/words/tables.h"

namespace heed {
namespace {

const WordsEntry& entry(std::string_view key) {
  for (const WordsEntry& candidate : words_table()) {
    if (candidate.key == key) return candidate;
  }
  fail("Words: there is no '{}'", key);
}

std::string filled(std::string_view phrase, std::initializer_list<std::string> values) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const std::string& value : values) store.push_back(value);
  return fmt::vformat(fmt::string_view(phrase.data(), phrase.size()), store);
}

}  // namespace

Language language_named(std::string_view name) {
  for (const Language language : {Language::english, Language::chinese}) {
    if (name == language_name(language)) return language;
  }
  fail("language: must be en or zh, but is '{}'", name);
}

std::string_view language_name(Language language) { return language == Language::english ? "en" : "zh"; }

const std::vector<WordsEntry>& words_table() {
  static const std::vector<WordsEntry> table = [] {
    std::vector<WordsEntry> all;
    for (const std::span<const WordsEntry> part :
         {words::labels(), words::attention(), words::projected_rows(), words::choices(), words::thinking_machines(),
          words::recurrent(), words::positions(), words::masks(), words::grouped_queries(), words::flash_attention(),
          words::windows()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return table;
}

std::string Words::title(std::string_view key, std::initializer_list<std::string> values) const {
  return filled(entry(key).title.in(language_), values);
}

std::string Words::text(std::string_view key, std::initializer_list<std::string> values) const {
  return filled(entry(key).text.in(language_), values);
}

}  // namespace heed
