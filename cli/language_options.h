// --from-language and --to-language, of models that translate between many.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "heed/tasks/text_codec.h"

namespace heed::cli {

inline void add_languages(CLI::App& command, Languages& languages) {
  const char* const of_many = "With a model of many languages: ";
  command
      .add_option(
          "--from-language", languages.source,
          std::string(of_many) + "what sources are in, by its token, such as deu_Latn; else as its folder says.")
      ->type_name("TOKEN");
  command.add_option("--to-language", languages.target, std::string(of_many) + "what is written, likewise.")
      ->type_name("TOKEN");
}

}  // namespace heed::cli
