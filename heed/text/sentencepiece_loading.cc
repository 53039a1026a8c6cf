#include "heed/text/sentencepiece_loading.h"

#include <sentencepiece_processor.h>

#include <new>

#include "heed/base/blanks.h"
#include "heed/base/check.h"
#include "heed/base/error.h"
#include "heed/base/replace_all.h"

namespace heed {

void load_sentencepiece(std::string_view bytes, std::string_view name,
                        sentencepiece::SentencePieceProcessor& processor) {
  try {
    const auto status = processor.LoadFromSerializedProto(bytes);
    HEED_CHECK(status.ok(), "{}: SentencePiece refuses this model: {}", name, status.message());
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // the trie inside it throws its own
    fail("{}: SentencePiece refuses this model: {}", name, error.what());
  }
}

std::string surface_of_piece(std::string piece) { return replace_all(std::move(piece), kSpaceMark, " "); }

}  // namespace heed
