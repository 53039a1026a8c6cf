// Text as its ids come, one at a time: what a generating model writes, for somebody who reads along.
//
//   StreamingDecoder stream(vocabulary);
//   for (int id : ids) std::cout << stream.add(id) << std::flush;
//   std::cout << stream.finish();
#pragma once

#include <string>
#include <vector>

#include "heed/text/vocabulary.h"

namespace heed {

// What add and finish return, one behind the other, is vocabulary.decode(ids): a piece whose text depends on what comes
// next is held back, such as one of the bytes of a character. One thread; the vocabulary must outlive it.
class StreamingDecoder {
 public:
  explicit StreamingDecoder(const Vocabulary& vocabulary, Specials specials = Specials::drop)
      : vocabulary_(vocabulary), specials_(specials) {}

  // Returns the text that is certain now, and was not returned yet; it may be empty. Throws as decode does.
  std::string add(int id);
  // Returns what was held back, and begins anew.
  std::string finish();

 private:
  // Decoding begins a little before what is new, since a piece may lose its space where it is the first.
  const Vocabulary& vocabulary_;
  Specials specials_;
  std::vector<int> ids_;       // those whose text is not all returned, and some before them
  std::size_t returned_ = 0;   // ids of them whose text is
  std::string returned_text_;  // of those
};

}  // namespace heed
