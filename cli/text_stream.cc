#include "text_stream.h"

#include "output.h"

namespace heed::cli {

void TextStream::show(const GeneratedPart& part) {
  constexpr std::string_view kNotWhole = "\xEF\xBF\xBD";
  const std::string_view text = part.text;
  if (!part.ended && text.ends_with(kNotWhole)) return;
  if (text.starts_with(printed_)) {
    print(text.substr(printed_.size()));
    printed_ = text;
  }
  if (part.ended) print("\n");
}

}  // namespace heed::cli
