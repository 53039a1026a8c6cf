// Sequences that are decoded together, one token of each a step. One enters whenever there is room for it and leaves
// when it has ended (continuous batching: Yu et al. 2022, Orca, section 4.1).
//
//   Session session(model, workspace);
//   session.admit(sources, std::move(searches));           // a search for each: BeamSearch, Sampler
//   while (session.rows() > 0) {
//     session.step();
//     for (Session::Ended& ended : session.take()) print(ended.sequence, ended.hypotheses);
//     if (session.rows() < kMostRows) ...                  // admit more
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/decode/search.h"
#include "heed/models/next_token.h"

namespace heed {

using Searches = std::vector<std::unique_ptr<Search>>;

class Session {
 public:
  struct Ended {
    Index sequence;  // its number
    std::vector<Hypothesis> hypotheses;
  };

  // Holds on to the model and the workspace, which must outlive it. What a model keeps of keys and values is in the
  // cache's type.
  Session(const NextToken& model, Workspace& workspace, Precision cache = Precision::f32)
      : model_(model), workspace_(workspace), cache_(cache) {}

  // Admits sequences, each with the search that goes on from it. They are numbered as they come, from 0 up; returns the
  // number of the first. What comes of a sequence has the bits that it has alone. If one is admitted alone to a
  // session without rows, what it has in common with the one that ended last is not read again, where the model can go
  // on from there. Throws heed::Error where there are not as many searches as sequences, and where one has more tokens
  // than the model takes.
  Index admit(const TokenBatch& sequences, Searches searches);
  // The rows of the sequences that have not ended: what a step costs.
  Index rows() const { return rows_; }
  // Reads one token of every row. After an error the session is of no use.
  void step();
  // The sequences that have ended since the last call, in the order of their ends.
  std::vector<Ended> take();

 private:
  struct Slot {
    Index sequence;
    std::unique_ptr<Search> search;
    Index rows;
    std::optional<std::vector<std::int32_t>> read;  // while that is tokens, and of one row
  };

  // From what the last sequence read. Returns whether the model has.
  bool go_on_to(std::span<const std::int32_t> sequence, std::span<const std::int32_t> last);

  const NextToken& model_;
  Workspace& workspace_;
  Precision cache_;
  std::unique_ptr<DecoderState> state_;                 // without rows: none, or one that can go on
  std::optional<std::vector<std::int32_t>> last_read_;  // then: what that has read
  std::vector<Slot> slots_;                             // their rows follow one another
  std::vector<Ended> ended_;
  Index rows_ = 0, admitted_ = 0;
};

// Decodes sequences to their ends; result i is what came of sequence i.
std::vector<std::vector<Hypothesis>> decode(const NextToken& model, const TokenBatch& sequences, Searches searches,
                                            Workspace& workspace);

}  // namespace heed
