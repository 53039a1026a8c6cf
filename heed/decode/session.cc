#include "heed/decode/session.h"

#include <utility>

#include "heed/base/check.h"
#include "heed/base/parallel.h"

namespace heed {
namespace {

bool is_identity(const std::vector<Index>& rows, Index count) {
  bool same = std::ssize(rows) == count;
  for (std::size_t r = 0; same && r < rows.size(); ++r) same = rows[r] == static_cast<Index>(r);
  return same;
}

}  // namespace

Index Session::admit(const TokenBatch& sequences, Searches searches) {
  const Index first = admitted_;
  HEED_CHECK(sequences.sequences() == std::ssize(searches), "Session::admit: {} sequences have {} searches",
             sequences.sequences(), searches.size());
  const bool are_tokens = sequences.signal.is_empty();
  for (Index i = 0; are_tokens && i < sequences.lengths.size(); ++i) {
    const Index length = sequences.lengths.data<std::int32_t>()[i];
    HEED_CHECK(length <= model_.max_length(), "Session::admit: a sequence has {} tokens, and the model takes {}",
               length, model_.max_length());
  }
  if (searches.empty()) return first;
  if (state_ == nullptr) state_ = model_.start(cache_);
  model_.admit(Context::inference(workspace_), *state_, sequences);
  for (std::unique_ptr<Search>& search : searches) slots_.push_back({admitted_++, std::move(search), 1});
  rows_ += std::ssize(searches);
  return first;
}

void Session::step() {
  if (rows_ == 0) return;
  std::vector<std::int32_t> tokens;
  std::vector<Index> first_row;
  for (const Slot& slot : slots_) {
    first_row.push_back(std::ssize(tokens));
    for (std::int32_t token : slot.search->next_tokens()) tokens.push_back(token);
  }
  const Tensor logits = model_.step(Context::inference(workspace_), *state_, tokens);

  std::vector<std::vector<Index>> parents(slots_.size());
  parallel_for(std::ssize(slots_), 1, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      parents[s] = slots_[s].search->advance(slice(logits.view(), 0, first_row[s], first_row[s] + slots_[s].rows));
    }
  });

  std::vector<Slot> going_on;
  std::vector<Index> rows;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (parents[s].empty()) {
      ended_.push_back({slots_[s].sequence, slots_[s].search->take()});
      continue;
    }
    for (Index parent : parents[s]) rows.push_back(first_row[s] + parent);
    slots_[s].rows = std::ssize(parents[s]);
    going_on.push_back(std::move(slots_[s]));
  }
  slots_ = std::move(going_on);
  rows_ = std::ssize(rows);
  if (rows_ == 0) {
    state_.reset();
  } else if (!is_identity(rows, std::ssize(tokens))) {
    state_->select_rows(rows);
  }
}

std::vector<Session::Ended> Session::take() { return std::exchange(ended_, {}); }

std::vector<std::vector<Hypothesis>> decode(const NextToken& model, const TokenBatch& sequences, Searches searches,
                                            Workspace& workspace) {
  std::vector<std::vector<Hypothesis>> results(searches.size());
  Session session(model, workspace);
  session.admit(sequences, std::move(searches));
  while (session.rows() > 0) session.step();
  for (Session::Ended& ended : session.take()) {
    results[static_cast<std::size_t>(ended.sequence)] = std::move(ended.hypotheses);
  }
  return results;
}

}  // namespace heed
