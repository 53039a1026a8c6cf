// What a model is for, which is told to who asks something else of it.
//
//   check_purpose(translates_text(folder.config), folder, "translates no text");
//   // gpt2: translates no text: it continues text (generate)
#pragma once

#include <string>
#include <string_view>

#include "heed/models/model_config.h"

namespace heed {

struct BareModel;

// Whether it reads a text and writes another.
bool translates_text(const ModelConfig& config);
// Whether it reads a text and says what comes next.
bool continues_text(const ModelConfig& config);

// In words, with the command, and the call of Python's, that has it do that: "translates text (translate)".
std::string purpose_of(const ModelConfig& config);

// Throws heed::Error "NAME: NOT: it PURPOSE" unless the model is for what is asked.
void check_purpose(bool is_for_it, const ModelConfig& config, std::string_view name, std::string_view not_it);
// The same of a model that is open.
void check_purpose(bool is_for_it, const BareModel& model, std::string_view not_it);

}  // namespace heed
