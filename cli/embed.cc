// heed embed
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "heed/base/check.h"
#include "heed/base/name_ending.h"
#include "heed/base/text_lines.h"
#include "heed/io/fields.h"
#include "heed/io/npy.h"
#include "heed/tasks/embed.h"
#include "numbers.h"
#include "output.h"
#include "output_files.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct EmbedCommand {
  std::string model, text = "-", out, pool, prompt;
  Index layer = -1;
  bool cosine = false, normalise = false, cut = false;
};

bool has_tab(const std::string& line) { return line.find('\t') != std::string::npos; }

// The two texts of each line, one behind the other.
std::vector<std::string> both_texts(const std::vector<std::string>& lines, const std::string& name) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t tab = lines[i].find('\t');
    HEED_CHECK(tab != std::string::npos, "{}:{}: has no tab, but others have: each line or none is a pair", name,
               i + 1);
    texts.push_back(lines[i].substr(0, tab));
    texts.push_back(lines[i].substr(tab + 1));
  }
  return texts;
}

void run(const EmbedCommand& command) {
  if (command.out.empty() && !command.cosine) throw CLI::RequiredError("--out or --cosine");
  std::vector<OptionFile> inputs = model_inputs("model", command.model);
  inputs.push_back({"--text", command.text});
  check_outputs({{"--out", command.out}}, inputs);
  EmbedOptions options{.layer = command.layer, .prompt = command.prompt, .cut = command.cut};
  if (!command.pool.empty()) enum_from_name(command.pool, options.pool.emplace());
  if (command.normalise) options.normalise = true;
  const ModelFolder folder = load_model_folder(command.model);
  std::vector<std::string> lines = read_text_lines(command.text);
  const std::string name = text_name(command.text);
  const bool pairs = command.cosine && std::ranges::any_of(lines, has_tab);
  if (pairs) lines = both_texts(lines, name);
  HEED_CHECK(!lines.empty(), "{}: holds no lines", name);
  ProgressLine progress("texts", std::ssize(lines));
  const Tensor vectors = embed(folder, lines, options, name, progress.listener());
  if (!command.out.empty()) write_npy(command.out, vectors);
  if (!command.cosine) return;
  for (Index i = 0; i + 1 < vectors.dim(0); i += pairs ? 2 : 1)
    print_line(fmt::format("{:.6f}", cosine(vectors, i, i + 1)));
}

}  // namespace

void add_embed_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("embed", "Turn each line into a vector.");
  auto command = std::make_shared<EmbedCommand>();
  sub->add_option("model", command->model, "The model's folder or file.")->required();
  sub->add_option("--text", command->text, "The text, a line a vector; - is standard input.")->capture_default_str();
  sub->add_option("--out", command->out, "Where the vectors go, a row a line (.npy, f32).")
      ->check([](const std::string& path) {
        return name_ending(path) == ".npy" ? std::string() : shown(path) + " must end in .npy";
      });
  sub->add_option(
         "--pool", command->pool,
         "What a line's vector is, and nothing behind it: the mean of its tokens', or its first or last token's.")
      ->check(CLI::IsMember({"mean", "first", "last"}))
      ->default_str("mean, or what the model's folder says");
  sub->add_flag("--normalise", command->normalise,
                "Divide each vector by its length, as the folders of some models say without it.");
  add_number(*sub, "--layer", command->layer,
             "Whose vectors: 0 is what the first layer reads, 1 what it gives, and so on, or from the end: -1 is the "
             "last.");
  sub->add_option("--prompt", command->prompt,
                  "What stands before each line: the one of this name that the model's folder has.")
      ->default_str("what the folder says");
  sub->add_flag("--cut", command->cut,
                "Of a line of more tokens than the model can hold, or its folder says, read the first, and do not "
                "refuse it.");
  sub->add_flag("--cosine", command->cosine,
                "Print how alike lines are, from -1 to 1: each and the next, or the two that a tab parts.");
  sub->footer(
      "Without --cosine a tab parts two texts that the model reads as one.\n"
      "Example:\n  heed embed model --out vectors.npy < lines.txt");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
