// Asks for lines of memory a while before they are read, while rows that lie there are multiplied. Fewer bytes ahead
// come too late; more than a core keeps requests for only hold up what is being read. They go into the second cache,
// which has room for them beside what is being read.
#pragma once

#include <hwy/base.h>

#include "heed/kernels/stored_rows.h"

namespace heed::kernels {

inline constexpr Index kLineBytes = 64, kAheadBytes = 16384;

// All functions that ask are HWY_INLINE: GCC takes one that only asks for one without effect, and leaves its calls out.

// Of bytes that lie one after another, spread over so many steps of work.
class SpreadBelow {
 public:
  SpreadBelow(const void* bytes, Index count, Index steps)
      : bytes_(static_cast<const char*>(bytes)), lines_(ceil_div(count, kLineBytes)), steps_(steps) {}

  bool empty() const { return lines_ == 0; }
  HWY_INLINE void ask_beside(Index step) const {
    for (Index n = step * lines_ / steps_; n < (step + 1) * lines_ / steps_; ++n)
      __builtin_prefetch(bytes_ + n * kLineBytes, 0, 2);
  }

 private:
  const char* bytes_;
  Index lines_, steps_;
};

// Of rows that are read some at a time, a line of each after the other.
class LinesBelow {
 public:
  // Rows of so many bytes of which `line_bytes` are read, `together` at a time.
  LinesBelow(const StoredRows& stored, Index row_bytes, Index line_bytes, Index together)
      : data_(static_cast<const char*>(stored.data)),
        next_(static_cast<const char*>(stored.next)),
        row_bytes_(row_bytes),
        count_(stored.count),
        lines_(ceil_div(line_bytes, kLineBytes)),
        together_(together),
        spread_(stored.next, stored.next_bytes, ceil_div(count_, together) * lines_) {
    const Index ahead = kAheadBytes / kLineBytes / together;
    down_ = ahead / lines_ * together, along_ = ahead % lines_;
  }

  // While that line of the rows from `row` on is read.
  HWY_INLINE void ask_beside(Index row, Index line) const {
    if (!spread_.empty()) return spread_.ask_beside(row / together_ * lines_ + line);
    row += down_, line += along_;
    if (line >= lines_) row += together_, line -= lines_;
    if (row >= count_ && next_ == nullptr) return;
    const char* at = row < count_ ? data_ + row * row_bytes_ : next_ + (row - count_) * row_bytes_;
    at += line * kLineBytes;
    for (Index n = 0; n < together_; ++n, at += row_bytes_) __builtin_prefetch(at, 0, 2);
  }

 private:
  const char *data_, *next_;
  Index row_bytes_, count_, lines_, together_, down_, along_;
  SpreadBelow spread_;
};

// Of rows that are read one after another.
class RowsBelow {
 public:
  // Rows of so many bytes, of which `read_bytes` are read in the end.
  RowsBelow(const StoredRows& stored, Index row_bytes, Index read_bytes)
      : data_(static_cast<const char*>(stored.data)),
        next_(static_cast<const char*>(stored.next)),
        row_bytes_(row_bytes),
        count_(stored.count),
        down_(ceil_div(kAheadBytes, read_bytes)) {}

  // While those bytes of a row are read.
  HWY_INLINE void ask_beside(Index row, Index first, Index bytes) const {
    row += down_;
    if (row >= count_ && next_ == nullptr) return;
    const char* at = row < count_ ? data_ + row * row_bytes_ : next_ + (row - count_) * row_bytes_;
    for (const char *line = at + first, *end = line + bytes; line < end; line += kLineBytes) {
      __builtin_prefetch(line, 0, 2);
    }
  }

 private:
  const char *data_, *next_;
  Index row_bytes_, count_, down_;
};

}  // namespace heed::kernels
