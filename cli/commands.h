// The sub-commands. Each adds itself to the application, with its options, its help and what it runs.
#pragma once

#include <CLI/CLI.hpp>

namespace heed::cli {

// Thrown by a command that a signal has stopped and that has said so: the program exits with 128 + signal, as a shell
// reports it, so that `heed train ... && heed translate ...` does not go on.
struct Interrupted {
  int signal;
};

void add_corpus_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_translate_command(CLI::App& app);
void add_generate_command(CLI::App& app);
void add_score_command(CLI::App& app);
void add_embed_command(CLI::App& app);
void add_fill_command(CLI::App& app);
void add_classify_command(CLI::App& app);
void add_transcribe_command(CLI::App& app);
void add_align_command(CLI::App& app);
void add_evaluate_command(CLI::App& app);
void add_view_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_convert_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_info_command(CLI::App& app);

}  // namespace heed::cli
