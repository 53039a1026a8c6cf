// SentencePieceVocabulary::train: the text is made fit for SentencePiece's trainer, which ends the process on some
// inputs.
#include <fmt/format.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/base/blanks.h"
#include "heed/base/check.h"
#include "heed/base/control_characters.h"
#include "heed/base/utf8.h"
#include "heed/text/sentencepiece_vocabulary.h"

namespace heed {
namespace {

constexpr std::array<std::string_view, 5> kNormalizations = {"identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"};
constexpr std::string_view kReservedMark = "\xE2\x96\x85";  // U+2585: the trainer drops every line that holds it
// The BPE trainer ends the process at a word of 65536 characters; one character can become 18 under NFKC.
constexpr std::size_t kLongestWord = 3000;
// The unigram trainer's time grows with the square of a sentence that repeats itself.
constexpr std::size_t kLongestSentence = 4096;
constexpr Index kMostPieces = Index{1} << 24;
constexpr Index kByteValues = 256;

// Returns the line without what the trainer would drop the whole line for, and with spaces inside overlong words and
// for control characters, which no piece may hold.
std::string fit_for_training(std::string_view line) {
  std::string fit;
  fit.reserve(line.size());
  std::size_t word = 0;  // bytes since the last space
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool starts_character = (line[i] & 0xC0) != 0x80;
    if (starts_character && word >= kLongestWord) {
      fit += ' ';
      word = 0;
    }
    if (line.substr(i).starts_with(kReservedMark)) {
      i += kReservedMark.size() - 1;
      fit += ' ';
    } else {
      const std::size_t control = control_character_at(line, i);
      fit += control > 0 ? ' ' : line[i];
      if (control > 1) ++i;
    }
    word = fit.back() == ' ' ? 0 : word + 1;
  }
  return fit;
}

// Adds the line to the sentences, cut at spaces where it is long: pieces never reach over a space.
void add_sentences(std::string_view line, std::vector<std::string>& sentences) {
  while (!line.empty()) {
    std::size_t end = line.size();
    if (end > kLongestSentence) end = std::min(line.rfind(' ', kLongestSentence), line.find(' ', kLongestSentence));
    const std::string_view sentence = line.substr(0, end);
    if (sentence.find_first_not_of(' ') != std::string_view::npos) sentences.emplace_back(sentence);
    line.remove_prefix(std::min(line.size(), sentence.size() + 1));
  }
}

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(std::span<const std::string> lines) : lines_(lines) {}
  bool done() const override { return next_ == lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::span<const std::string> lines_;
  std::size_t next_ = 0;
};

// Trains a model of the given type and returns its bytes.
std::string run_trainer(std::span<const std::string> lines, std::string type, Index size,
                        const SentencePieceOptions& options) {
  Index bytes = 0;
  for (const std::string& line : lines) bytes += static_cast<Index>(line.size());
  const std::unordered_map<std::string, std::string> arguments = {
      {"minloglevel", "3"},  // quiet
      {"model_type", std::move(type)},
      {"vocab_size", fmt::format("{}", size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", fmt::format("{}", options.character_coverage)},
      {"byte_fallback", options.byte_fallback ? "true" : "false"},
      {"normalization_rule_name", options.normalization},
      {"pad_id", fmt::format("{}", kOwnSymbols.pad)},
      {"unk_id", fmt::format("{}", kOwnSymbols.unknown)},
      {"bos_id", fmt::format("{}", kOwnSymbols.begin)},
      {"eos_id", fmt::format("{}", kOwnSymbols.end)},
      {"unk_surface", "\xE2\x81\x87"},  // U+2047 without the spaces around it, so that words can be counted
      {"num_threads", "1"},             // the unigram trainer adds floats in an order that depends on it
      {"max_sentence_length", fmt::format("{}", 1 << 30)},
      {"train_extremely_large_corpus", bytes > (Index{1} << 30) ? "true" : "false"},
  };
  Lines iterator(lines);
  std::string model;
  // The trainer writes global flags.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  try {
    const auto status = sentencepiece::SentencePieceTrainer::Train(arguments, &iterator, &model);
    HEED_CHECK(status.ok(), "SentencePieceVocabulary::train: {}", status.message());
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail("SentencePieceVocabulary::train: {}", error.what());
  }
  return model;
}

void check_options(const SentencePieceOptions& options) {
  HEED_CHECK(options.vocabulary_size > 4 && options.vocabulary_size <= kMostPieces,
             "SentencePieceVocabulary::train: vocabulary_size must be in [5, {}], not {}", kMostPieces,
             options.vocabulary_size);
  HEED_CHECK(options.character_coverage > 0.9 && options.character_coverage <= 1.0,
             "SentencePieceVocabulary::train: character_coverage must be in (0.9, 1], not {}",
             options.character_coverage);
  HEED_CHECK(std::find(kNormalizations.begin(), kNormalizations.end(), options.normalization) != kNormalizations.end(),
             "SentencePieceVocabulary::train: normalization must be one of {}, not '{}'",
             fmt::join(kNormalizations, ", "), options.normalization);
}

// Throws unless the text has a visible character after normalisation and the vocabulary has room for all that must be
// covered. The unigram trainer ends the process on a text that normalises to nothing, so the one-pass character trainer
// looks first.
void check_characters(std::span<const std::string> lines, const SentencePieceOptions& options) {
  SentencePieceOptions characters_only = options;
  characters_only.byte_fallback = false;
  const auto characters = SentencePieceVocabulary::from_bytes(run_trainer(lines, "char", kMostPieces, characters_only),
                                                              "SentencePieceVocabulary::train");
  bool visible = false;
  for (int id = kOwnSymbols.end + 1; id < characters.size() && !visible; ++id) {
    visible = characters.piece(id) != kSpaceMark;
  }
  HEED_CHECK(visible, "SentencePieceVocabulary::train: none of the {} lines has a visible character", lines.size());
  const Index least = characters.size() + (options.byte_fallback ? kByteValues : 0);
  HEED_CHECK(
      options.vocabulary_size >= least,
      "SentencePieceVocabulary::train: vocabulary_size {} is too small: the text's characters and the symbols need {} "
      "(or a lower character_coverage than {})",
      options.vocabulary_size, least, options.character_coverage);
}

}  // namespace

SentencePieceVocabulary SentencePieceVocabulary::train(std::span<const std::string> lines,
                                                       const SentencePieceOptions& options) {
  check_options(options);
  std::vector<std::string> fit;
  fit.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    HEED_CHECK(valid_utf8(lines[i]), "SentencePieceVocabulary::train: line {} is not valid UTF-8", i + 1);
    add_sentences(fit_for_training(lines[i]), fit);
  }
  HEED_CHECK(!fit.empty(), "SentencePieceVocabulary::train: none of the {} lines has a visible character",
             lines.size());
  check_characters(fit, options);
  const char* type = options.model == SentencePieceModel::bpe ? "bpe" : "unigram";
  return from_bytes(run_trainer(fit, type, options.vocabulary_size, options), "SentencePieceVocabulary::train");
}

}  // namespace heed
