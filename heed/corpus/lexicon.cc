#include "heed/corpus/lexicon.h"

#include <string>

#include "heed/base/check.h"

namespace heed::grammar {

const Noun& noun(std::string_view german) {
  for (const Noun& entry : nouns()) {
    if (entry.german == german) return entry;
  }
  fail("noun: no entry \"{}\"", german);
}

const Adjective& adjective(std::string_view german) {
  for (const Adjective& entry : adjectives()) {
    if (entry.german == german) return entry;
  }
  fail("adjective: no entry \"{}\"", german);
}

const Verb& verb(std::string_view infinitive, Frame frame) {
  for (const Verb& entry : verbs()) {
    std::string whole = std::string(entry.german.prefix) + std::string(entry.german.infinitive);
    if (entry.frame == frame && whole == infinitive) return entry;
  }
  fail("verb: no entry \"{}\" of frame {}", infinitive, static_cast<int>(frame));
}

const Modal& modal(std::string_view infinitive) {
  for (const Modal& entry : modals()) {
    if (entry.infinitive == infinitive) return entry;
  }
  fail("modal: no entry \"{}\"", infinitive);
}

}  // namespace heed::grammar
