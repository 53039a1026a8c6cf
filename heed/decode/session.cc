#include "heed/decode/session.h"

#include <algorithm>
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

bool Session::go_on_to(std::span<const std::int32_t> sequence, std::span<const std::int32_t> last) {
  const auto differs = std::ranges::mismatch(last, sequence).in2;
  const Index kept = differs - sequence.begin();
  return kept > 0 && model_.go_on(Context::inference(workspace_), *state_, kept, {differs, sequence.end()});
}

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
  const auto tokens_of = [&](Index i) -> std::span<const std::int32_t> {
    return {sequences.ids.data<std::int32_t>() + i * sequences.ids.dim(1),
            static_cast<std::size_t>(sequences.lengths.data<std::int32_t>()[i])};
  };
  // Should the model throw, what the state has read is no longer known.
  const std::optional<std::vector<std::int32_t>> last = std::exchange(last_read_, std::nullopt);
  if (!last || searches.size() > 1 || !are_tokens || !go_on_to(tokens_of(0), *last)) {
    if (rows_ == 0) state_ = model_.start(cache_);
    model_.admit(Context::inference(workspace_), *state_, sequences);
  }
  for (std::unique_ptr<Search>& search : searches) {
    Slot& slot = slots_.emplace_back(admitted_++, std::move(search), 1);
    if (!are_tokens) continue;
    const std::span<const std::int32_t> tokens = tokens_of(slot.sequence - first);
    slot.read.emplace(tokens.begin(), tokens.end());
  }
  rows_ += std::ssize(searches);
  return first;
}

void Session::step() {
  if (rows_ == 0) return;
  std::vector<std::int32_t> tokens;
  std::vector<Index> first_row;
  for (Slot& slot : slots_) {
    first_row.push_back(std::ssize(tokens));
    for (std::int32_t token : slot.search->next_tokens()) tokens.push_back(token);
    if (slot.rows > 1) slot.read.reset();
    if (slot.read) slot.read->push_back(tokens.back());
  }
  const Tensor logits = model_.step(Context::inference(workspace_), *state_, tokens);

  std::vector<std::vector<Index>> parents(slots_.size());
  parallel_for(std::ssize(slots_), 1, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      parents[s] = slots_[s].search->advance(slice(logits.view(), 0, first_row[s], first_row[s] + slots_[s].rows));
    }
  });

  std::vector<Slot> going_on;
  std::optional<std::vector<std::int32_t>> last_read;
  std::vector<Index> rows;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (parents[s].empty()) {
      ended_.push_back({slots_[s].sequence, slots_[s].search->take()});
      last_read = std::move(slots_[s].read);
      continue;
    }
    for (Index parent : parents[s]) rows.push_back(first_row[s] + parent);
    slots_[s].rows = std::ssize(parents[s]);
    going_on.push_back(std::move(slots_[s]));
  }
  slots_ = std::move(going_on);
  rows_ = std::ssize(rows);
  if (rows_ == 0) {
    // Kept where the model goes on from it: with nothing, to begin with.
    const bool is_kept = tokens.size() == 1 && last_read &&
                         model_.go_on(Context::inference(workspace_), *state_, std::ssize(*last_read), {});
    last_read_ = is_kept ? std::move(last_read) : std::nullopt;
    if (!is_kept) state_.reset();
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
