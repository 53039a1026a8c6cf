// Raw text in, raw text out.
//
//   ModelFolder model = load_model_folder("model");
//   Translator translator(model);
//   translator.translate({"Guten Morgen."}, {.beam = 5})[0][0].text;
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/progress.h"
#include "heed/decode/beam_search.h"
#include "heed/tasks/model_folder.h"

namespace heed {

// What becomes of a sentence of more tokens than the model can hold.
enum class LongLines {
  fail,   // heed::Error, naming the line
  crop,   // its first tokens are translated
  empty,  // its translation is empty
};
inline constexpr std::pair<std::string_view, LongLines> kLongLinesNames[] = {
    {"fail", LongLines::fail}, {"crop", LongLines::crop}, {"empty", LongLines::empty}};
inline std::span<const std::pair<std::string_view, LongLines>> enum_names(LongLines) { return kLongLinesNames; }

struct Translation {
  std::string text;
  double score = 0;                  // log-probability after the length penalty
  std::vector<std::int32_t> tokens;  // target ids, without the end token
  std::vector<double> token_scores;  // log-probabilities of tokens, then of the end token; none where nothing was read
};

class Translator {
  using Ids = std::vector<int>;

 public:
  // Holds on to the model and the codec, which must outlive it.
  Translator(const SequenceModel& model, const TextCodec& codec, LongLines long_lines = LongLines::fail);
  explicit Translator(const ModelFolder& folder, LongLines long_lines = LongLines::fail);

  // Translates lines; result i is of line i, best first. A line without tokens gives one empty translation of score 0.
  // Batches are formed from lines of like length and shared out among the threads, which changes no bit of a result. At
  // once they hold at most batch_tokens source tokens, or 512 for each thread where that is more, padding counted; the
  // longest sentence where it alone has more. With LongLines::fail, throws heed::Error naming `name` and the line,
  // before anything is translated. Progress counts lines.
  std::vector<std::vector<Translation>> translate(std::span<const std::string> lines, const BeamOptions& options,
                                                  std::string_view name = "input", Index first_line = 1,
                                                  Index batch_tokens = kBatchTokens, const Progress& progress = {});

  // The lines of the last call that were too long, as numbers of lines from its first_line up.
  const std::vector<Index>& long_lines() const { return long_lines_; }
  // How many of the lines come before the first that is too long.
  std::size_t count_before_long_line(std::span<const std::string> lines) const;

 private:
  std::vector<Ids> encode(std::span<const std::string> lines) const;
  std::size_t most_tokens() const;  // of a sentence, without its end token
  void treat_long_lines(std::vector<Ids>& ids, std::string_view name, Index first_line);
  std::vector<std::vector<Translation>> translate_batch(std::span<const Ids> sentences, const BeamOptions& options,
                                                        Workspace& workspace) const;

  const SequenceModel& model_;
  const TextCodec& codec_;
  TextEncoding source_;
  LongLines treatment_;
  std::vector<Index> long_lines_;
  std::vector<Workspace> workspaces_;  // one a thread
};

}  // namespace heed
