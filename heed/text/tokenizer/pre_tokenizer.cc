#include "heed/text/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/check.h"
#include "heed/text/regex.h"
#include "heed/text/tokenizer/byte_alphabet.h"
#include "heed/text/tokenizer/growth.h"
#include "heed/text/tokenizer/json_fields.h"
#include "heed/text/tokenizer/library_unicode.h"
#include "heed/text/tokenizer/replacement.h"
#include "heed/text/tokenizer/split_behaviour.h"
#include "heed/text/tokenizer/step_sequence.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

Word part(Word whole, std::size_t begin, std::size_t end) {
  return {whole.text.substr(begin, end - begin), whole.first && begin == 0};
}

// Cuts the text at the matches that find(use) tells, from left to right; where inverted, what lies between matches is
// what it is cut at.
template <typename Find>
void cut(Word whole, SplitBehaviour behaviour, bool inverted, const WordSink& sink, const Find& find) {
  std::size_t last = 0;
  const auto cut_at = [&](const auto& use) {
    find([&](std::size_t begin, std::size_t end) {
      if (last < begin) use(last, begin, inverted);
      use(begin, end, !inverted);
      last = end;
    });
    if (last < whole.text.size()) use(last, whole.text.size(), inverted);
  };
  if (behaviour == SplitBehaviour::isolated || behaviour == SplitBehaviour::removed) {  // part by part
    cut_at([&](std::size_t begin, std::size_t end, bool is_match) {
      if (begin < end && !(is_match && behaviour == SplitBehaviour::removed)) sink(part(whole, begin, end));
    });
    return;
  }
  std::vector<Stretch> stretches;
  cut_at([&](std::size_t begin, std::size_t end, bool is_match) { stretches.push_back({begin, end, is_match}); });
  for_each_part(stretches, behaviour, [&](std::size_t begin, std::size_t end) { sink(part(whole, begin, end)); });
}

// Cuts at each character of a class.
template <typename Class>
class CharacterSplit final : public PreTokenizer {
 public:
  CharacterSplit(Class is_in_class, SplitBehaviour behaviour) : is_in_class_(is_in_class), behaviour_(behaviour) {}

  void split(Word text, const WordSink& sink) const override {
    cut(text, behaviour_, false, sink, [&](const auto& use) {
      for_each_code_point(text.text, [&](char32_t c, std::string_view bytes) {
        if (!is_in_class_(c)) return;
        const auto at = static_cast<std::size_t>(bytes.data() - text.text.data());
        use(at, at + bytes.size());
      });
    });
  }

 private:
  Class is_in_class_;
  SplitBehaviour behaviour_;
};

template <typename Class>
std::unique_ptr<const PreTokenizer> split_at(Class is_in_class, SplitBehaviour behaviour) {
  return std::make_unique<CharacterSplit<Class>>(is_in_class, behaviour);
}

bool is_any_punctuation(char32_t c) {
  if (c < 0x80)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  return is_library_punctuation(c);
}

class PatternSplit final : public PreTokenizer {
 public:
  explicit PatternSplit(const Json& json)
      : pattern_(json["pattern"]),
        behaviour_(read_split_behaviour(json["behavior"])),
        inverted_(flag_or(json, "invert", false)) {}

  void split(Word text, const WordSink& sink) const override {
    cut(text, behaviour_, inverted_, sink, [&](const auto& use) { pattern_.for_each_match(text.text, use); });
  }

 private:
  Pattern pattern_;
  SplitBehaviour behaviour_;
  bool inverted_;
};

// Runs of word characters and runs of what is neither those nor space; spaces go.
class WhitespaceSplit final : public PreTokenizer {
 public:
  void split(Word text, const WordSink& sink) const override {
    std::size_t begin = 0;
    Kind last = Kind::space;
    for_each_code_point(text.text, [&](char32_t c, std::string_view bytes) {
      const Kind kind = is_library_word_character(c) ? Kind::word : is_white_space(c) ? Kind::space : Kind::other;
      const auto at = static_cast<std::size_t>(bytes.data() - text.text.data());
      if (kind != last) {
        if (last != Kind::space) sink(part(text, begin, at));
        begin = at;
      }
      last = kind;
    });
    if (last != Kind::space) sink(part(text, begin, text.text.size()));
  }

 private:
  enum class Kind { space, word, other };
};

class BertSplit final : public PreTokenizer {
 public:
  void split(Word text, const WordSink& sink) const override {
    std::size_t begin = 0;
    const auto end_word = [&](std::size_t end) {
      if (begin < end) sink(part(text, begin, end));
    };
    for_each_code_point(text.text, [&](char32_t c, std::string_view bytes) {
      const bool space = is_white_space(c);
      if (!space && !is_any_punctuation(c)) return;
      const auto at = static_cast<std::size_t>(bytes.data() - text.text.data());
      end_word(at);
      begin = at + bytes.size();
      if (!space) sink(part(text, at, begin));
    });
    end_word(text.text.size());
  }
};

// GPT-2's: contractions, letters, numbers and other characters, each with one space before it, and runs of spaces; and
// then a character for each byte.
class ByteLevelSplit final : public PreTokenizer {
 public:
  explicit ByteLevelSplit(const Json& json) : prefix_space_(flag_or(json, "add_prefix_space", true)) {
    if (flag_or(json, "use_regex", true)) {
      words_.emplace(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", json.where());
    }
  }

  void split(Word text, const WordSink& sink) const override {
    std::string spaced;
    if (prefix_space_ && !text.text.starts_with(' ')) {
      spaced.reserve(text.text.size() + 1);
      spaced += ' ';
      spaced += text.text;
      text.text = spaced;
    }
    std::string bytes;
    const auto tell = [&](Word word) {
      bytes.clear();
      for (const char byte : word.text) bytes += byte_character(static_cast<unsigned char>(byte));
      sink({bytes, word.first});
    };
    if (!words_) {
      tell(text);
      return;
    }
    cut(text, SplitBehaviour::isolated, false, tell, [&](const auto& use) { words_->for_each_match(text.text, use); });
  }

 private:
  bool prefix_space_;
  std::optional<Regex> words_;
};

// Spaces become a mark, and each word begins with one.
class MetaspaceSplit final : public PreTokenizer {
 public:
  explicit MetaspaceSplit(const Json& json) : mark_(json["replacement"].string()), cuts_(flag_or(json, "split", true)) {
    if (mark_.empty()) json["replacement"].refuse("must be one character");
    const std::string scheme = string_or(json, "prepend_scheme", "always");
    if (scheme != "always" && scheme != "first" && scheme != "never")
      json["prepend_scheme"].refuse("must be always, first or never");
    scheme_ = scheme == "always" ? Scheme::always : scheme == "first" ? Scheme::first : Scheme::never;
    if (!flag_or(json, "add_prefix_space", true)) scheme_ = Scheme::never;
  }

  void split(Word text, const WordSink& sink) const override {
    std::string marked;
    marked.reserve(text.text.size() + text.text.size() / 2 + mark_.size());
    for (const char byte : text.text) {
      if (byte == ' ') {
        marked += mark_;
      } else {
        marked += byte;
      }
    }
    const bool prepends = scheme_ == Scheme::always || (scheme_ == Scheme::first && text.first);
    if (prepends && !marked.starts_with(mark_)) marked.insert(0, mark_);
    const Word whole{marked, text.first};
    if (!cuts_) {
      sink(whole);
      return;
    }
    // A mark belongs to what is behind it; of several, each but the last is a word.
    std::size_t begin = 0;
    for (std::size_t at = marked.find(mark_, 0); at != std::string::npos; at = marked.find(mark_, at + mark_.size())) {
      if (begin < at) sink(part(whole, begin, at));
      begin = at;
    }
    sink(part(whole, begin, marked.size()));
  }

 private:
  enum class Scheme { always, first, never };

  std::string mark_;
  bool cuts_;
  Scheme scheme_;
};

class FixedLengthSplit final : public PreTokenizer {
 public:
  explicit FixedLengthSplit(Index length) : length_(length) {}
  void split(Word text, const WordSink& sink) const override {
    std::size_t begin = 0;
    Index characters = 0;
    for_each_code_point(text.text, [&](char32_t, std::string_view bytes) {
      if (++characters < length_) return;
      const auto end = static_cast<std::size_t>(bytes.data() - text.text.data()) + bytes.size();
      sink(part(text, begin, end));
      begin = end;
      characters = 0;
    });
    if (begin < text.text.size()) sink(part(text, begin, text.text.size()));
  }

 private:
  Index length_;
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<std::unique_ptr<const PreTokenizer>> steps) : steps_(std::move(steps)) {}
  void split(Word text, const WordSink& sink) const override { split_from(0, text, text.text.size(), sink); }

 private:
  // `whole`: the bytes of the text that the first step was given.
  void split_from(std::size_t step, Word text, std::size_t whole, const WordSink& sink) const {
    if (step == steps_.size()) {
      sink(text);
    } else if (step + 1 == steps_.size()) {
      steps_[step]->split(text, sink);
    } else {
      steps_[step]->split(text, [&](Word word) {
        check_growth(word.text.size(), whole, "the tokenizer's pre_tokenizer");
        split_from(step + 1, word, whole, sink);
      });
    }
  }

  std::vector<std::unique_ptr<const PreTokenizer>> steps_;
};

std::unique_ptr<const PreTokenizer> read_pre_tokenizers(const Json& json) {
  std::vector<std::unique_ptr<const PreTokenizer>> steps;
  add_steps(json, "pretokenizers", "pre-tokenizers", read_pre_tokenizer, steps);
  return std::make_unique<PreTokenizerSequence>(std::move(steps));
}

std::unique_ptr<const PreTokenizer> read_delimiter(const Json& json) {
  const std::u32string delimiter = decode_utf8(json["delimiter"].string(), json.where());
  if (delimiter.size() != 1) json["delimiter"].refuse("must be one character");
  return split_at([wanted = delimiter[0]](char32_t c) { return c == wanted; }, SplitBehaviour::removed);
}

}  // namespace

std::unique_ptr<const PreTokenizer> read_pre_tokenizer(const Json& json) {
  if (json.is_null()) return nullptr;
  const std::string type = type_of(json);
  if (type == "Sequence") return read_pre_tokenizers(json);
  if (type == "ByteLevel") return std::make_unique<ByteLevelSplit>(json);
  if (type == "Split") return std::make_unique<PatternSplit>(json);
  if (type == "BertPreTokenizer") return std::make_unique<BertSplit>();
  if (type == "Whitespace") return std::make_unique<WhitespaceSplit>();
  if (type == "WhitespaceSplit") return split_at(is_white_space, SplitBehaviour::removed);
  if (type == "Metaspace") return std::make_unique<MetaspaceSplit>(json);
  if (type == "CharDelimiterSplit") return read_delimiter(json);
  if (type == "FixedLength") {
    return std::make_unique<FixedLengthSplit>(is_given(json, "length") ? json["length"].integer(1) : Index{5});
  }
  if (type == "Digits") {
    return split_at(is_library_number,
                    flag_or(json, "individual_digits", false) ? SplitBehaviour::isolated : SplitBehaviour::contiguous);
  }
  if (type == "Punctuation") {
    return split_at(is_any_punctuation,
                    is_given(json, "behavior") ? read_split_behaviour(json["behavior"]) : SplitBehaviour::isolated);
  }
  json["type"].refuse("must be a pre-tokenizer that heed has");
}

}  // namespace heed
