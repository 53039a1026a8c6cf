// heed evaluate --model CAPTIONER --source LIST --reference FILE: what a model tells of pictures.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "heed/tasks/caption_score.h"

namespace heed::cli {

struct EvaluateCaptions {
  std::string places;
  CaptionLook look;
};

// Adds the options, which need --model.
void add_caption_options(CLI::App& sub, EvaluateCaptions& command, CLI::Option* model);
// Prints how many captions are the references to the letter and, with places, how many nouns look at what they name.
void evaluate_captions(const EvaluateCaptions& command, const ModelFolder& model, const std::string& pictures,
                       const std::string& references, bool json);

}  // namespace heed::cli
