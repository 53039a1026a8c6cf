// What a model attended to while it read or wrote one sequence, as plain data: recorded once, then saved, drawn and
// compared without the model, heed's own or another toolkit's. docs/trace.md has every field and its form in a file.
//
//   AttentionTrace trace;
//   trace.source.tokens = {"ein", "Hund"}, trace.target.tokens = {"a", "dog"};
//   trace.maps = {{.kind = AttentionKind::cross, .heads = 1, .queries = 2, .keys = 2, .weights = {0.9f, 0.1f, 0, 1}}};
//   validate(trace, "example");
//   trace.maps[0].weight(0, 1, 1);   // what "dog" reads of "Hund"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/observe/observer.h"

namespace heed {

// Numbers with their extents, in row-major order.
struct TraceArray {
  std::vector<Index> shape{};
  std::vector<float> values{};

  bool empty() const { return shape.empty(); }
  friend bool operator==(const TraceArray&, const TraceArray&) = default;
};

// The patches that a picture was cut into.
struct TraceGrid {
  Index rows = 0, columns = 0;
  friend bool operator==(const TraceGrid&, const TraceGrid&) = default;
};

// The tokens of one side: what maps have along an axis.
struct TraceSide {
  std::string text{};  // as a reader sees it
  std::vector<std::string> tokens{};
  // For each token the number of its word, which never falls, or -1 for a special token; of a picture, the number of
  // its patch, row by row. Empty: not known.
  std::vector<Index> words{};
  std::vector<std::string> word_texts{};  // of each word, those without a token too; empty: not known
  std::vector<Index> segments{};          // for each token which of several texts it is of: BERT's pairs; empty: of one
  std::optional<TraceGrid> grid{};        // of a picture's patches, which words then tell
  std::optional<double> seconds{};        // that a frame of sound lasts

  // How many tokens, and words; of some words there may be no token.
  Index size() const { return static_cast<Index>(tokens.size()); }
  Index word_count() const;
  friend bool operator==(const TraceSide&, const TraceSide&) = default;
};

// One sequence and what was made of it. A translation has a source, a decoder's input and a target; a text that a
// language model read has the latter two; a text or a picture that an encoder read has a source alone.
struct AttentionTrace {
  // The weights of one attention layer.
  struct Map {
    std::string path{};  // AttentionSite::path, or another toolkit's name for it
    Index layer = 0;     // its number in its stack, counted from 0
    AttentionKind kind = AttentionKind::encoder;
    Index heads = 0, queries = 0, keys = 0;
    std::vector<float> weights{};  // [heads, queries, keys]
    // What the scores are of, where they are scale * q . k: [heads, queries, d] and [KV heads, keys, d], as they meet
    // (normalised, turned by their positions). Head h has the keys of KV head h / (heads / KV heads). Both or none.
    TraceArray q{}, k{};
    double scale = 0;
    // What was added to a score besides (positions, a mask of numbers): [1 or heads, queries, keys]. Empty: nothing.
    TraceArray bias{};

    float weight(Index head, Index query, Index key) const {
      return weights[static_cast<std::size_t>((head * queries + query) * keys + key)];
    }
    friend bool operator==(const Map&, const Map&) = default;
  };

  // A side's vectors before and after their positions were added to them, [tokens, d]. Both or none.
  struct Embeddings {
    TraceArray before{}, after{};
    bool empty() const { return before.empty() && after.empty(); }
    friend bool operator==(const Embeddings&, const Embeddings&) = default;
  };

  // The search for the target, one more token at each step.
  struct Candidate {
    std::string token{};
    double probability = 0;
    friend bool operator==(const Candidate&, const Candidate&) = default;
  };
  struct Hypothesis {
    Index parent = -1;  // which hypothesis of the step before it goes on; -1 in the first step
    std::string token{};
    double log_probability = 0, total = 0;  // of the token, and of all tokens so far
    std::vector<Candidate> candidates{};    // the likeliest tokens in this place, likeliest first
    friend bool operator==(const Hypothesis&, const Hypothesis&) = default;
  };
  struct Step {
    std::vector<Hypothesis> hypotheses{};  // best first; those that ended are gone from the next step on
    friend bool operator==(const Step&, const Step&) = default;
  };

  // That a source word and a target word belong together, as a person sees it; some links are not certain.
  struct GoldLink {
    Index source = 0, target = 0;
    bool sure = true;
    friend bool operator==(const GoldLink&, const GoldLink&) = default;
  };

  std::string model{};  // what made it: a name
  TraceSide source{};   // the keys of encoder and cross maps, the queries of encoder maps
  TraceSide decoder{};  // what the decoder reads (a begin token first): both axes of decoder maps
  TraceSide target{};   // what it answers to each of them: the queries of cross maps
  std::vector<Map> maps{};
  Embeddings source_embeddings{}, decoder_embeddings{};
  std::vector<Step> steps{};
  std::vector<GoldLink> gold{};
  std::string image{};  // the picture: "data:image/png;base64,...", or of JPEG

  // What a map's queries and keys are.
  const TraceSide& query_side(AttentionKind kind) const;
  const TraceSide& key_side(AttentionKind kind) const;

  friend bool operator==(const AttentionTrace&, const AttentionTrace&) = default;
};

inline constexpr Index kMaxTraceHeads = 1024;
inline constexpr Index kMaxTraceTokens = 65536;
inline constexpr Index kMaxTraceLayers = 65536;
inline constexpr Index kMaxTraceWidth = 65536;
inline constexpr Index kMaxTraceHypotheses = 4096;  // of a step, and candidates of a hypothesis

// Throws heed::Error that begins with `place` and the field, "trace.maps[3].weights: ...", unless: text is UTF-8; there
// are at most kMaxTraceTokens tokens a side, as many of the decoder as of the target where there are both, and at most
// kMaxTraceTokens patches in a grid; words, segments, steps and gold are what is said beside them; every map has its
// own path, 1 to kMaxTraceHeads heads, as many queries and keys as its kind has tokens, one of each at least, and all
// arrays have their shape and are finite.
void validate(const AttentionTrace& trace, std::string_view place);

}  // namespace heed
