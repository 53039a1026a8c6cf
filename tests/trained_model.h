// A tiny corpus and a tiny model for tests of the command-line program, made by it when first asked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "command.h"

namespace heed::testing {

// train, valid and test: .de, .en and .align; 10 pairs each of valid and test. Removed when the test program ends.
const std::filesystem::path& tiny_corpus();

// The path of one of its files.
std::string corpus_file(const char* name);

// A model's folder. One layer each way, two heads, sentences of at most 99 tokens; its translations are babble.
const std::filesystem::path& tiny_model();

// A language model of the corpus's English side, of the same sizes; and the arguments that train one like it.
const std::filesystem::path& tiny_language_model();
std::vector<std::string> language_model_training(const std::string& folder);

// A folder that is empty and of this test alone.
std::filesystem::path scratch_folder();

// The standard output of a command that must succeed without a word on standard error.
std::string output_of(const std::vector<std::string>& arguments, const CommandOptions& options = {});

// Passes where the command ended with this exit code and one line on standard error that holds every part.
void expect_refusal(const CommandResult& result, int exit_code, std::initializer_list<std::string> parts);

}  // namespace heed::testing
