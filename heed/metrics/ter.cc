#include "heed/metrics/ter.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/metrics/edit_distance.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/segments.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

// tercom's limits, and the last one sacreBLEU's.
constexpr Index kMaxShiftSize = 10;
constexpr Index kMaxShiftDistance = 50;
constexpr Index kMaxCandidates = 1000;

constexpr Index kSearchesPerTask = 8;  // segments for each call of a thread

using Words = std::vector<std::uint32_t>;

// Which words of both sides are in error, and where each reference word stands in the hypothesis.
struct Alignment {
  std::vector<Index>
      position;  // of each reference word's partner; of the last partner before it where it has none; -1: before all
  std::vector<bool> reference_error;
  std::vector<bool> hypothesis_error;

  explicit Alignment(std::span<const Edit> edits) {
    for (const Edit edit : edits) {
      const bool error = edit != Edit::keep;
      if (edit != Edit::insert) hypothesis_error.push_back(error);
      if (edit != Edit::remove) {
        reference_error.push_back(error);
        position.push_back(static_cast<Index>(hypothesis_error.size()) - 1);
      }
    }
  }
};

bool any_error(const std::vector<bool>& errors, Index begin, Index count) {
  return std::any_of(errors.begin() + begin, errors.begin() + begin + count, [](bool error) { return error; });
}

// Moves words[start, start + length) so that it stands before what is now words[target]; a target within the run moves
// it past as many of the words after it, as tercom has it.
void shift(std::span<const std::uint32_t> words, Index start, Index length, Index target, Words& shifted) {
  shifted.assign(words.begin(), words.end());
  const auto begin = shifted.begin() + start;
  if (target < start) {
    std::rotate(shifted.begin() + target, begin, begin + length);
  } else {
    const Index end = target > start + length ? target : std::min(target + length, static_cast<Index>(words.size()));
    std::rotate(begin, begin + length, shifted.begin() + end);
  }
}

// Edits one hypothesis into one reference.
class ShiftSearch {
 public:
  ShiftSearch(Words hypothesis, std::span<const std::uint32_t> reference)
      : words_(std::move(hypothesis)), reference_(reference), table_(reference, static_cast<Index>(words_.size())) {}

  // The shifts and the edits after them.
  Index count_edits() {
    Index edits = table_.set_hypothesis(words_);
    Index shifts = 0;
    while (true) {
      const Candidate best = find_best_shift(edits);
      if (tried_ >= kMaxCandidates || best.saved <= 0) return shifts + edits;
      shift(words_, best.start, best.length, best.target, shifted_);
      std::swap(words_, shifted_);
      edits = table_.set_hypothesis(words_);
      ++shifts;
    }
  }

 private:
  struct Candidate {
    Index saved = std::numeric_limits<Index>::min();
    Index length = 0;
    Index start = 0;
    Index target = 0;

    // Most edits saved, then the longest, then the first in the hypothesis, then the earliest target.
    bool operator>(const Candidate& other) const {
      return std::tuple(saved, length, -start, -target) >
             std::tuple(other.saved, other.length, -other.start, -other.target);
    }
  };

  Candidate find_best_shift(Index edits) {
    const Alignment alignment(table_.edits());
    Candidate best;
    const auto hypothesis_length = static_cast<Index>(words_.size());
    const auto reference_length = static_cast<Index>(reference_.size());
    for (Index start = 0; start < hypothesis_length; ++start) {
      const Index first = std::max<Index>(0, start - kMaxShiftDistance);
      const Index last = std::min(reference_length - 1, start + kMaxShiftDistance);
      for (Index at = first; at <= last; ++at) {
        const Index limit = std::min({kMaxShiftSize, hypothesis_length - start, reference_length - at});
        for (Index length = 1; length <= limit && words_[start + length - 1] == reference_[at + length - 1]; ++length) {
          if (!may_shift(alignment, start, at, length)) continue;
          try_targets(alignment, edits, start, at, length, best);
          if (tried_ >= kMaxCandidates) return best;
        }
      }
    }
    return best;
  }

  // Both the run and the place it matches must be in error, and the place must not be in the run.
  static bool may_shift(const Alignment& alignment, Index start, Index at, Index length) {
    const Index partner = alignment.position[at];
    return any_error(alignment.hypothesis_error, start, length) && any_error(alignment.reference_error, at, length) &&
           (partner < start || partner >= start + length);
  }

  // Tries the run before the partner of the word it matches, and after the partner of each of its words.
  void try_targets(const Alignment& alignment, Index edits, Index start, Index at, Index length, Candidate& best) {
    Index previous = -1;
    for (Index i = at - 1; i < at + length; ++i) {
      const Index target = i < 0 ? 0 : alignment.position[i] + 1;
      if (target == previous) continue;
      previous = target;
      shift(words_, start, length, target, shifted_);
      const Candidate candidate = {edits - table_.distance(shifted_, std::min(start, target)), length, start, target};
      ++tried_;
      if (candidate > best) best = candidate;
    }
  }

  Words words_;
  Words shifted_;
  std::span<const std::uint32_t> reference_;
  BeamEditDistance table_;
  Index tried_ = 0;
};

struct SegmentEdits {
  Index edits = 0;
  double reference_length = 0;
};

SegmentEdits count_segment(const std::string& hypothesis, std::span<const std::vector<std::string>> references,
                           Index segment, const TerOptions& options) {
  std::vector<std::vector<std::u32string>> words = {ter_words(decode_utf8(hypothesis, "corpus_ter"), options)};
  for (const std::vector<std::string>& set : references) {
    words.push_back(ter_words(decode_utf8(set[segment], "corpus_ter"), options));
  }
  const std::vector<Words> numbered = number_words(words);
  Index edits = std::numeric_limits<Index>::max();
  Index reference_words = 0;
  for (std::size_t r = 1; r < numbered.size(); ++r) {
    const bool empty = numbered[r].empty();
    edits = std::min(
        edits, empty ? static_cast<Index>(numbered[0].size()) : ShiftSearch(numbered[0], numbered[r]).count_edits());
    reference_words += static_cast<Index>(numbered[r].size());
  }
  return {edits, static_cast<double>(reference_words) / static_cast<double>(references.size())};
}

}  // namespace

std::string TerScore::summary() const { return fmt::format("TER = {:.2f}", score); }

TerScore corpus_ter(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                    const TerOptions& options) {
  check_segments("corpus_ter", hypotheses, references);
  std::vector<SegmentEdits> segments(hypotheses.size());
  parallel_for(static_cast<Index>(hypotheses.size()), kSearchesPerTask, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) segments[i] = count_segment(hypotheses[i], references, i, options);
  });

  TerScore result;
  for (const SegmentEdits& segment : segments) {
    result.edits += segment.edits;
    result.reference_length += segment.reference_length;
  }
  if (result.reference_length > 0) {
    result.score = 100 * static_cast<double>(result.edits) / result.reference_length;
  } else {
    result.score = result.edits > 0 ? 100 : 0;
  }
  const auto yes_no = [](bool value) { return value ? "yes" : "no"; };
  result.signature =
      signature(static_cast<Index>(references.size()),
                fmt::format("case:{}|tok:tercom|norm:{}|punct:{}|asian:{}", options.case_sensitive ? "mixed" : "lc",
                            yes_no(options.normalized), yes_no(!options.no_punct), yes_no(options.asian_support)));
  return result;
}

TerScore sentence_ter(std::string_view hypothesis, std::span<const std::string> references, const TerOptions& options) {
  const std::string hypotheses[] = {std::string(hypothesis)};
  return corpus_ter(hypotheses, as_reference_sets(references), options);
}

}  // namespace heed
