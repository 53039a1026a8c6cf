// Asks for lines of memory a while before they are read, while rows that lie there are multiplied. Fewer bytes ahead
// come too late; more than a core keeps requests for only hold up what is being read. They go into the second cache,
// which has room for them beside what is being read.
#pragma once

#include <hwy/base.h>

#include "heed/kernels/stored_rows.h"

namespace heed::kernels {

inline constexpr Index kLineBytes = 64, kAheadBytes = 16384;

// Of rows that are read some at a time, a line of each after the other. HWY_INLINE: GCC takes a function that only asks
// for one without effect, and leaves its calls out.
class LinesBelow {
 public:
  // Rows of so many bytes of which `line_bytes` are read, `together` at a time.
  LinesBelow(const StoredRows& stored, Index row_bytes, Index line_bytes, Index together)
      : data_(static_cast<const char*>(stored.data)),
        next_(static_cast<const char*>(stored.next)),
        row_bytes_(row_bytes),
        count_(stored.count),
        next_lines_(ceil_div(stored.next_bytes, kLineBytes)),
        lines_(ceil_div(line_bytes, kLineBytes)),
        together_(together) {
    const Index ahead = kAheadBytes / kLineBytes / together;
    down_ = ahead / lines_ * together, along_ = ahead % lines_;
  }

  // While that line of the rows from `row` on is read.
  HWY_INLINE void ask_beside(Index row, Index line) const {
    if (next_lines_ > 0) {
      const Index step = row / together_ * lines_ + line, steps = ceil_div(count_, together_) * lines_;
      for (Index n = step * next_lines_ / steps; n < (step + 1) * next_lines_ / steps; ++n)
        __builtin_prefetch(next_ + n * kLineBytes, 0, 2);
      return;
    }
    row += down_, line += along_;
    if (line >= lines_) row += together_, line -= lines_;
    if (row >= count_ && next_ == nullptr) return;
    const char* at = row < count_ ? data_ + row * row_bytes_ : next_ + (row - count_) * row_bytes_;
    at += line * kLineBytes;
    for (Index n = 0; n < together_; ++n, at += row_bytes_) __builtin_prefetch(at, 0, 2);
  }

 private:
  const char *data_, *next_;
  Index row_bytes_, count_, next_lines_, lines_, together_, down_, along_;
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
