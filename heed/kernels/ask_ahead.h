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
  // Whether rows whose lines share sets of the first cache are asked for in runs of lines of one row; else a line of
  // each.
  bool in_runs = false;
};

AskAhead ask_ahead();

}  // namespace heed::kernels
