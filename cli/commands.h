// The sub-commands. Each adds itself to the application, with its options, its help and what it runs.
#pragma once

#include <CLI/CLI.hpp>

namespace heed::cli {

void add_corpus_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_translate_command(CLI::App& app);
void add_evaluate_command(CLI::App& app);
void add_view_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_info_command(CLI::App& app);

}  // namespace heed::cli
