#include "heed/text/tokenizer/piece_decoder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/replace_all.h"
#include "heed/base/utf8.h"
#include "heed/text/tokenizer/byte_alphabet.h"
#include "heed/text/tokenizer/growth.h"
#include "heed/text/tokenizer/json_fields.h"
#include "heed/text/tokenizer/replacement.h"
#include "heed/text/tokenizer/step_sequence.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

using Pieces = std::vector<std::string>;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::size_t bytes_of(const Pieces& pieces) {
  std::size_t bytes = 0;
  for (const std::string& piece : pieces) bytes += piece.size() + 1;
  return bytes;
}

template <typename Function>
class FunctionDecoder final : public PieceDecoder {
 public:
  explicit FunctionDecoder(Function function) : function_(std::move(function)) {}
  Pieces decode(Pieces pieces) const override { return function_(std::move(pieces)); }

 private:
  Function function_;
};

template <typename Function>
std::unique_ptr<const PieceDecoder> decoder_of(Function function) {
  return std::make_unique<FunctionDecoder<Function>>(std::move(function));
}

class DecoderSequence final : public PieceDecoder {
 public:
  explicit DecoderSequence(std::vector<std::unique_ptr<const PieceDecoder>> steps) : steps_(std::move(steps)) {}
  Pieces decode(Pieces pieces) const override {
    const std::size_t given = bytes_of(pieces);
    for (const auto& step : steps_) {
      pieces = step->decode(std::move(pieces));
      check_growth(bytes_of(pieces), given, "the tokenizer's decoder");
    }
    return pieces;
  }

 private:
  std::vector<std::unique_ptr<const PieceDecoder>> steps_;
};

// Whether two or three bytes are the first of a character of more.
bool begins_character(std::string_view bytes) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead >= 0xE0 && lead <= 0xEF ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
  if (bytes.size() >= length) return false;
  const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return byte(1) >= least && byte(1) <= most && (bytes.size() < 3 || (byte(2) & 0xC0) == 0x80);
}

Pieces with_spaces(Pieces pieces) {
  for (std::size_t i = 1; i < pieces.size(); ++i) pieces[i].insert(0, " ");
  return pieces;
}

Pieces fuse(const Pieces& pieces) {
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  return {std::move(all)};
}

Pieces decode_byte_level(const Pieces& pieces) {
  std::string bytes;
  for (const std::string& piece : pieces) bytes += characters_as_bytes(piece);
  return {valid_text(bytes)};
}

// The value of "<0xE2>"; -1 of any other piece.
int byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>')) return -1;
  int value = 0;
  for (const char digit : piece.substr(3, 2)) {
    if (std::isxdigit(static_cast<unsigned char>(digit)) == 0) return -1;
    value = value * 16 + (digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
  }
  return value;
}

// A run of byte pieces is text where all of it is; else each of them is unreadable.
Pieces decode_byte_fallback(const Pieces& pieces) {
  Pieces decoded;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (valid_utf8(bytes)) {
      decoded.push_back(bytes);
    } else {
      decoded.insert(decoded.end(), bytes.size(), std::string(kReplacement));
    }
    bytes.clear();
  };
  for (const std::string& piece : pieces) {
    const int byte = byte_of_piece(piece);
    if (byte >= 0) {
      bytes += static_cast<char>(byte);
    } else {
      flush();
      decoded.push_back(piece);
    }
  }
  flush();
  return decoded;
}

// What stands apart in pieces and not in English.
void clean_up(std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kRules = {{{" .", "."},
                                                                                     {" ?", "?"},
                                                                                     {" !", "!"},
                                                                                     {" ,", ","},
                                                                                     {" ' ", "'"},
                                                                                     {" n't", "n't"},
                                                                                     {" 'm", "'m"},
                                                                                     {" do not", " don't"},
                                                                                     {" 's", "'s"},
                                                                                     {" 've", "'ve"},
                                                                                     {" 're", "'re"}}};
  for (const auto& [from, to] : kRules) text = replace_all(std::move(text), from, to);
}

std::unique_ptr<const PieceDecoder> read_word_piece_decoder(const Json& json) {
  return decoder_of([prefix = string_or(json, "prefix", "##"), cleans = flag_or(json, "cleanup", true)](Pieces pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::string& piece = pieces[i];
      if (i > 0) {
        if (piece.starts_with(prefix)) {
          piece.erase(0, prefix.size());
        } else {
          piece.insert(0, " ");
        }
      }
      if (cleans) clean_up(piece);
    }
    return pieces;
  });
}

std::unique_ptr<const PieceDecoder> read_metaspace(const Json& json) {
  const bool prepends =
      flag_or(json, "add_prefix_space", true) && string_or(json, "prepend_scheme", "always") != "never";
  const std::string mark = json["replacement"].string();
  if (mark.empty()) json["replacement"].refuse("must be one character");
  return decoder_of([mark, prepends](Pieces pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      pieces[i] = replace_all(std::move(pieces[i]), mark, i == 0 && prepends ? "" : " ");
    return pieces;
  });
}

std::unique_ptr<const PieceDecoder> read_bpe_decoder(const Json& json) {
  return decoder_of([suffix = string_or(json, "suffix", "</w>")](Pieces pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      pieces[i] = replace_all(std::move(pieces[i]), suffix, i + 1 == pieces.size() ? "" : " ");
    return pieces;
  });
}

// At most `start` of the character at each piece's start go, and `stop` at its end.
std::unique_ptr<const PieceDecoder> read_strip(const Json& json) {
  const std::string content = json["content"].string();
  if (content.empty()) json["content"].refuse("must be one character");
  return decoder_of([content, start = json["start"].integer(0), stop = json["stop"].integer(0)](Pieces pieces) {
    for (std::string& piece : pieces) {
      std::string_view rest = piece;
      for (Index i = 0; i < start && rest.starts_with(content); ++i) rest.remove_prefix(content.size());
      for (Index i = 0; i < stop && rest.ends_with(content); ++i) rest.remove_suffix(content.size());
      piece = std::string(rest);
    }
    return pieces;
  });
}

// Speech recognisers': a piece that comes twice in a row is one, and the blank is none.
std::unique_ptr<const PieceDecoder> read_ctc(const Json& json) {
  return decoder_of([blank = string_or(json, "pad_token", "<pad>"),
                     space = string_or(json, "word_delimiter_token", "|"),
                     cleans = flag_or(json, "cleanup", true)](Pieces pieces) {
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    Pieces decoded;
    for (std::string& piece : pieces) {
      piece = replace_all(std::move(piece), blank, "");
      if (cleans) {
        clean_up(piece);
        piece = replace_all(std::move(piece), space, " ");
      }
      if (!piece.empty()) decoded.push_back(std::move(piece));
    }
    return decoded;
  });
}

std::unique_ptr<const PieceDecoder> read_decoders(const Json& json) {
  std::vector<std::unique_ptr<const PieceDecoder>> steps;
  add_steps(
      json, "decoders", "decoders",
      [](const Json& step) {
        if (step.is_null()) step.refuse("must be a decoder");
        return read_piece_decoder(step);
      },
      steps);
  return std::make_unique<DecoderSequence>(std::move(steps));
}

}  // namespace

std::unique_ptr<const PieceDecoder> read_piece_decoder(const Json& json) {
  if (json.is_null()) return decoder_of(with_spaces);
  const std::string type = type_of(json);
  if (type == "Sequence") return read_decoders(json);
  if (type == "ByteLevel") return decoder_of(decode_byte_level);
  if (type == "ByteFallback") return decoder_of(decode_byte_fallback);
  if (type == "Fuse") return decoder_of(fuse);
  if (type == "WordPiece") return read_word_piece_decoder(json);
  if (type == "Metaspace") return read_metaspace(json);
  if (type == "BPEDecoder") return read_bpe_decoder(json);
  if (type == "Strip") return read_strip(json);
  if (type == "CTC") return read_ctc(json);
  if (type == "Replace") {
    return decoder_of([replacement = std::make_shared<const Replacement>(json)](Pieces pieces) {
      for (std::string& piece : pieces) piece = replacement->apply(piece);
      return pieces;
    });
  }
  json["type"].refuse("must be a decoder that heed has");
}

std::string valid_text(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    Index wrong = 0;
    if (valid_utf8(bytes, &wrong)) return text.append(bytes);
    const auto good = static_cast<std::size_t>(wrong);
    text.append(bytes.substr(0, good));
    bytes.remove_prefix(good);
    // The longest part that begins a character: one byte, or as many more as may still follow in one.
    std::size_t length = 1;
    while (length < bytes.size() && length < 3 && begins_character(bytes.substr(0, length + 1))) ++length;
    text += kReplacement;
    bytes.remove_prefix(length);
  }
  return text;
}

}  // namespace heed
