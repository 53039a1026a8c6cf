// How this processor wants to be asked for memory that is read soon.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// As measured (docs/decisions/0024), where nothing better is known.
struct AskAhead {
  // So many bytes before they are read, of rows that are read in turn: fewer come too late, and more than a core keeps
  // requests for only hold up what is being read.
  Index bytes = 16384;
  // Else into the second cache, which has room for them beside what is being read.
  bool into_first_cache = false;
  // Whether what follows a block of rows is asked for by its addresses, one line after the other, while the block is
  // read in whatever order; else in the order in which it will be read.
  bool by_address = false;
  // Whether lines that many rows turn to at once are asked for again, into the first cache, while those before them are
  // multiplied. Else a core that keeps few requests, all of them for memory, waits even for its second cache.
  bool again = false;
  // Whether rows whose lines share sets of the first cache are asked for in runs of lines of one row; else a line of
  // each.
  bool in_runs = false;
};

AskAhead ask_ahead();

// Lines so far apart share a set of the first cache, and push each other out of it where they are many.
inline constexpr Index kSetBytes = 4096;

// How far apart rows should lie that are read together, of which each goes on to the one below it: `run` rows, or one
// less, so that it is an odd number and they share no more sets than rows do that lie side by side.
constexpr Index rows_apart(Index run, Index row_bytes) {
  return row_bytes % kSetBytes == 0 || run % 2 == 1 ? run : run - 1;
}

}  // namespace heed::kernels
