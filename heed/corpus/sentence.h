// Whole sentences: the patterns from a plain statement to "um ... zu".
#pragma once

#include "heed/corpus/sampler.h"

namespace heed::grammar {

// Finished sentences (capital, final mark), aligned by meanings. Lengths vary from 3 words; the longest are rejected by
// the caller.
Phrase sample_sentence(Sampler& sampler);

// "Hat er das Buch gelesen?"
Phrase sample_yes_no_question(Sampler& sampler);
// "wann", "warum", "wo", "wohin"; how old somebody is.
Phrase sample_adverb_question(Sampler& sampler);
// Who or what is asked for: subject, object, or what a preposition governs.
Phrase sample_pronoun_question(Sampler& sampler);

// A statement of one clause, a question: finished likewise. For tests and for the catalogue of patterns.
Phrase statement(const Clause& clause);
Phrase question(const Clause& clause);
// "Ruf bitte deine Mutter an!"
Phrase command(const Clause& clause);
// main, conjunction, subordinate clause: "Er bleibt zu Hause, weil es regnet." With sub_first: "Weil es regnet, bleibt
// er ..."
Phrase compound(const Clause& main, const Expression& conjunction, const Clause& subordinate, bool sub_first);

}  // namespace heed::grammar
