// Asks for lines of memory a while before they are read (ask_ahead.h), while rows that lie there are multiplied.
#pragma once

#include <hwy/base.h>

#include <algorithm>
#include <utility>

#include "heed/kernels/ask_ahead.h"
#include "heed/kernels/stored_rows.h"

namespace heed::kernels {

inline constexpr Index kLineBytes = 64;

// All functions that ask are HWY_INLINE: GCC takes one that only asks for one without effect, and leaves its calls out.

// A line from each of `count` addresses, so many bytes apart.
HWY_INLINE void ask_lines(const char* at, Index apart, Index count, bool into_first_cache) {
  if (into_first_cache) {
    HWY_UNROLL(16)
    for (Index n = 0; n < count; ++n) __builtin_prefetch(at + n * apart, 0, 3);
  } else {
    HWY_UNROLL(16)
    for (Index n = 0; n < count; ++n) __builtin_prefetch(at + n * apart, 0, 2);
  }
}

// Some that lie one after another.
struct BytesBelow {
  BytesBelow(const void* bytes, Index number) : begin(static_cast<const char*>(bytes)), count(number) {}
  const char* begin;
  Index count;
};

// Of some bytes and then of others, evenly beside some work.
class SpreadBelow {
 public:
  // The work is done in so many steps.
  SpreadBelow(BytesBelow first, BytesBelow second, Index steps)
      : next_(first.begin),
        due_(next_),
        end_(next_ + first.count),
        second_(second),
        bytes_a_step_(ceil_div(first.count + second.count, std::max<Index>(steps, 1))),
        into_first_cache_(ask_ahead().into_first_cache) {}

  bool empty() const { return bytes_a_step_ == 0; }
  HWY_INLINE void ask_beside_step() { ask_beside_steps(1); }
  // Beside so many steps that are done at once.
  HWY_INLINE void ask_beside_steps(Index steps) {
    if (next_ >= end_) next_ = due_ = second_.begin, end_ = next_ + std::exchange(second_.count, 0);
    due_ += std::min(steps * bytes_a_step_, end_ - due_);  // nothing of no bytes, which may lie nowhere
    for (; next_ < due_; next_ += kLineBytes) ask_lines(next_, kLineBytes, 1, into_first_cache_);
  }

 private:
  const char *next_, *due_, *end_;
  BytesBelow second_;
  Index bytes_a_step_;
  bool into_first_cache_;
};

// What is asked for beside rows (StoredRows::next_bytes).
inline SpreadBelow spread_below(const StoredRows& stored, Index row_bytes, Index steps) {
  const char* const end = static_cast<const char*>(stored.data) + stored.count * row_bytes;
  return {{end - stored.left_bytes, stored.left_bytes}, {stored.next, stored.next_bytes}, steps};
}

// Of rows that are read kTogether at a time, a line of each after the other. Where the lines of sixteen rows share a
// set of the first cache, they may be asked for in runs: at each line that is read, kRun lines of two of the rows.
template <Index kTogether>
class LinesBelow {
  static constexpr Index kRun = 8;
  static constexpr bool kMayRun = kTogether == 2 * kRun;  // others were no faster so

 public:
  // Rows of so many bytes, of which `line_bytes` are read.
  LinesBelow(const StoredRows& stored, Index row_bytes, Index line_bytes)
      : data_(static_cast<const char*>(stored.data)),
        next_(static_cast<const char*>(stored.next)),
        row_bytes_(row_bytes),
        count_(stored.count),
        lines_(ceil_div(line_bytes, kLineBytes)),
        again_(ask_ahead().again),
        next_rows_(stored.next_bytes == 0 || next_ == data_ + count_ * row_bytes_ ? next_ : nullptr),
        spread_(spread_below(stored, row_bytes, round_up(count_, kTogether) * lines_)) {
    if (!spread_.empty()) return;
    const AskAhead wanted = ask_ahead();
    in_runs_ = kMayRun && wanted.in_runs && row_bytes % kSetBytes == 0 && lines_ % kRun == 0;
    into_first_cache_ = wanted.into_first_cache;
    const Index ahead = in_runs_ ? kRun : wanted.bytes / kLineBytes / kTogether;
    down_ = ahead / lines_ * kTogether, along_ = ahead % lines_;
  }

  // While that line of the rows from `row` on is read.
  HWY_INLINE void ask_beside(Index row, Index line) {
    if (!spread_.empty()) return;
    const bool in_runs = kMayRun && in_runs_;  // false as early as when it is compiled
    const Index part = in_runs ? line % kRun : 0;
    row += down_, line += along_ - part;
    if (line >= lines_) row += kTogether, line -= lines_;
    if (row >= count_ && next_ == nullptr) return;
    const char* const first = row < count_ ? data_ + row * row_bytes_ : next_ + (row - count_) * row_bytes_;
    const char* const at = first + line * kLineBytes;
    if (in_runs) {
      ask_lines(at + 2 * part * row_bytes_, kLineBytes, kRun, into_first_cache_);
      return ask_lines(at + (2 * part + 1) * row_bytes_, kLineBytes, kRun, into_first_cache_);
    }
    ask_lines(at, row_bytes_, kTogether, into_first_cache_);
  }
  // What is read after that line of the rows from `row` on: the first of kTogether lines, a row apart, or of fewer.
  // Null where it is not known, or not to be asked for again.
  HWY_INLINE const char* again(Index row, Index line) const {
    if (!again_) return nullptr;
    if (line + 1 < lines_) return data_ + row * row_bytes_ + (line + 1) * kLineBytes;
    return row + kTogether < count_ ? data_ + (row + kTogether) * row_bytes_ : next_rows_;
  }
  // Some of kTogether parts that the work on that line of the rows has: what is asked for by address is spread evenly
  // over them, for a core that is asked for many lines at once keeps what it reads waiting, too.
  HWY_INLINE void ask_beside_parts(Index parts) {
    if (!spread_.empty()) spread_.ask_beside_steps(parts);
  }

 private:
  const char *data_, *next_;
  Index row_bytes_, count_, lines_, down_ = 0, along_ = 0;
  bool again_;
  const char* next_rows_;  // what follows, where that is rows as far apart; else null
  bool in_runs_ = false, into_first_cache_ = false;
  SpreadBelow spread_;
};

// Of rows that are read one after another, each whole or some columns of all before the next.
class RowsBelow {
 public:
  // Rows of so many bytes, of which `read_bytes` are read in the end, `at_once` or fewer at a time, and so of `rows`
  // rows together. After they have been read there are so many steps more.
  struct Steps {
    Index at_once, rows = 1, after = 0;
  };
  RowsBelow(const StoredRows& stored, Index row_bytes, Index read_bytes, Steps steps)
      : data_(static_cast<const char*>(stored.data)),
        next_(static_cast<const char*>(stored.next)),
        row_bytes_(row_bytes),
        count_(stored.count),
        rows_(steps.rows),
        spread_(
            spread_below(stored, row_bytes,
                         (ceil_div(stored.count, steps.rows) + steps.after) * ceil_div(read_bytes, steps.at_once))) {
    if (!spread_.empty()) return;
    const AskAhead wanted = ask_ahead();
    down_ = ceil_div(wanted.bytes, read_bytes), into_first_cache_ = wanted.into_first_cache;
  }

  // While those bytes of the rows from `row` on are read.
  HWY_INLINE void ask_beside(Index row, Index first, Index bytes) {
    if (!spread_.empty()) return spread_.ask_beside_step();
    row += down_;
    for (const Index end = row + rows_; row < end; ++row) {
      if (row >= count_ && next_ == nullptr) return;
      const char* const at = row < count_ ? data_ + row * row_bytes_ : next_ + (row - count_) * row_bytes_;
      ask_lines(at + first, kLineBytes, ceil_div(bytes, kLineBytes), into_first_cache_);
    }
  }
  // Beside some steps of what comes after rows have been read.
  HWY_INLINE void ask_beside_steps(Index steps) {
    if (!spread_.empty()) spread_.ask_beside_steps(steps);
  }

 private:
  const char *data_, *next_;
  Index row_bytes_, count_, rows_, down_ = 0;
  bool into_first_cache_ = false;
  SpreadBelow spread_;
};

}  // namespace heed::kernels
