// Loading a model: the time and the peak memory of load_model_folder beside those of reading its file into memory. The
// model is made here, a Transformer of 6 + 6 layers of width 512 and hidden 2048 with a shared table of 16,000 tokens
// (52 M parameters, 209 MB), and its file is in the system's memory when it is read. Each measurement is a process of
// its own, so that the peak is its own too; reading and loading take turns.
//
//   heed_loading_bench [FOLDER = ./loading_bench] [ROUNDS = 5]
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file_reader.h"
#include "heed/base/memory.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/saved_parameters.h"
#include "heed/tasks/model_folder.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

constexpr double kMegabyte = 1e6;

void make_model_folder(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<std::string> words;
  for (int i = 0; i < 15996; ++i) words.push_back("word" + std::to_string(i));
  const WhitespaceVocabulary vocabulary = WhitespaceVocabulary::build(words);
  ModelConfig config;
  config.transformer.width = 512, config.transformer.heads = 8, config.transformer.ffn_width = 2048;
  config.transformer.encoder_layers = config.transformer.decoder_layers = 6;
  config.set_vocabularies(vocabulary.size(), vocabulary.size());
  DrawnParameters drawn(Rng(1));
  make_model(drawn, config);
  save_vocabularies(folder, vocabulary, vocabulary);
  save_model_config(folder, config);
  save_parameters(folder / "model.safetensors", drawn.list());
}

void read_file_whole(const std::filesystem::path& path) {
  FileReader file(path);
  const std::shared_ptr<void> memory = allocate(*file.size());
  HEED_CHECK(file.read(memory.get(), *file.size()) == *file.size(), "{}: cut short", path.string());
}

struct Cost {
  double seconds, megabytes;
};

// What `work` costs in a process of its own, which ends with it.
template <typename Work>
Cost cost_of(Work work) {
  int ends[2];
  HEED_CHECK(::pipe(ends) == 0, "loading_bench: no pipe");
  const ::pid_t child = ::fork();
  HEED_CHECK(child >= 0, "loading_bench: no second process");
  if (child == 0) {
    int status = 1;
    try {
      const auto begin = std::chrono::steady_clock::now();
      work();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      status = ::write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1;
    } catch (const Error& error) {
      fmt::print(stderr, "{}\n", error.what());
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  Cost cost{};
  int status = 0;
  struct ::rusage usage {};
  const bool told = ::read(ends[0], &cost.seconds, sizeof cost.seconds) == sizeof cost.seconds;
  ::close(ends[0]);
  HEED_CHECK(::wait4(child, &status, 0, &usage) == child && status == 0 && told, "loading_bench: a measurement failed");
  cost.megabytes = static_cast<double>(usage.ru_maxrss) * 1024 / kMegabyte;
  return cost;
}

// The median time and the greatest peak.
Cost summary(std::vector<Cost> costs) {
  std::ranges::sort(costs, {}, &Cost::seconds);
  const double most = std::ranges::max(costs, {}, &Cost::megabytes).megabytes;
  return {costs[costs.size() / 2].seconds, most};
}

void print_row(std::string_view what, const Cost& cost, double weights) {
  fmt::print("{:<20} {:7.3f} s   {:7.1f} MB   {:.2f} times the weights\n", what, cost.seconds, cost.megabytes,
             cost.megabytes / weights);
}

void run(const std::filesystem::path& folder, int rounds) {
  cost_of([&] { make_model_folder(folder); });
  const std::filesystem::path file = folder / "model.safetensors";
  std::vector<Cost> reading, loading;
  for (int round = 0; round < std::max(rounds, 1); ++round) {
    reading.push_back(cost_of([&] { read_file_whole(file); }));
    loading.push_back(cost_of([&] { load_model_folder(folder); }));
  }
  const double weights = static_cast<double>(std::filesystem::file_size(file)) / kMegabyte;
  fmt::print("weights              {:.1f} MB; time: median of {}, peak memory: greatest\n", weights, rounds);
  print_row("an empty process", cost_of([] {}), weights);
  print_row("reading the file", summary(reading), weights);
  print_row("loading the model", summary(loading), weights);
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  try {
    heed::run(argc > 1 ? argv[1] : "loading_bench", argc > 2 ? std::atoi(argv[2]) : 5);
  } catch (const heed::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
