// Which heads a model has.
//
//   FamilyModel model = describe_model(config);
//   choose_heads(model, file);                     // sets model.config.encoder_heads, and adds the rules for them
#pragma once

#include "heed/io/checkpoint.h"
#include "heed/pretrained/family.h"

namespace heed {

// Those of the architecture that config.json names ("...Model", "...ForMaskedLM", "...ForPreTraining",
// "...ForNextSentencePrediction", "...ForSequenceClassification", "...ForImageClassification", and that
// "...WithTeacher", "...ForTokenClassification", "...ForMultipleChoice", "...ForQuestionAnswering"), and its pooler
// where the file has one, but of an encoder none that the file has nothing of, which model.lost_heads tells; those that
// the file has where it names none. A model with a decoder may be a classifier in the place of a language model. Throws
// heed::Error for another architecture, which heed has not.
void choose_heads(FamilyModel& model, const Checkpoint& file);

}  // namespace heed
