#include "heed/pretrained/generation_options.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed {
namespace {

DecodingOptions decoding_of(std::string_view text, Index encoder_layers, std::int32_t last = -1) {
  FamilyModel model;
  model.last = last;
  model.config.encoder_layers = encoder_layers;
  read_generation_options(Json::parse(text, "generation_config.json"), model);
  return model.decoding;
}

TEST(GenerationOptions, OfATranslationAreThoseOfItsSearch) {
  const std::string_view summaries =
      R"({"num_beams": 4, "length_penalty": 2.0, "early_stopping": true, "min_length": 56,
    "max_length": 142, "no_repeat_ngram_size": 3, "repetition_penalty": 1.1, "temperature": 0.5})";
  const BeamOptions search = decoding_of(summaries, 12, /*last=*/2).search;
  EXPECT_EQ(search.beam, 4);
  EXPECT_EQ(search.length_penalty, 2);
  EXPECT_TRUE(search.early_stopping);
  EXPECT_EQ(search.min_tokens, 55) << "the begin token is none of them";
  EXPECT_EQ(search.max_tokens, 140) << "nor is the end token";
  EXPECT_EQ(decoding_of(summaries, 12).search.max_tokens, 141) << "which does not come by itself";
  EXPECT_FALSE(search.complete || decoding_of(summaries, 12).search.complete);
  EXPECT_EQ(search.max_extra, kAnyLength) << "whatever the source's length";
  EXPECT_EQ(search.no_repeat_ngram, 3);
  EXPECT_EQ(search.repetition_penalty, 1.1);
  EXPECT_EQ(decoding_of(summaries, 12).sampling.temperature, 1);
  EXPECT_FALSE(decoding_of(R"({"early_stopping": "never"})", 12).search.early_stopping);
  EXPECT_TRUE(decoding_of(R"({"early_stopping": "never"})", 12).search.any_length);
  for (const char* left_out : {R"({"early_stopping": false})", R"({"early_stopping": null})", "{}"}) {
    EXPECT_FALSE(decoding_of(left_out, 12).search.early_stopping) << left_out;
    EXPECT_FALSE(decoding_of(left_out, 12).search.any_length) << left_out;
  }
  EXPECT_TRUE(decoding_of(R"({"renormalize_logits": true})", 12).search.renormalize);
}

TEST(GenerationOptions, NewTokensAreCountedWithoutTheBeginToken) {
  const std::string_view lengths = R"({"max_length": 20, "max_new_tokens": 9, "min_new_tokens": 4})";
  const BeamOptions search = decoding_of(lengths, 6).search;
  EXPECT_EQ(search.max_tokens, 9);
  EXPECT_EQ(decoding_of(lengths, 6, /*last=*/2).search.max_tokens, 8) << "and the end";
  EXPECT_EQ(search.min_tokens, 4);
  EXPECT_EQ(decoding_of(R"({"max_length": 1000000000000})", 6).search.max_tokens, kAnyLength);
  EXPECT_EQ(decoding_of(R"({"max_length": 0, "min_length": 0})", 6).search.max_tokens, 1);
}

TEST(GenerationOptions, OfATextThatGoesOnAreThoseOfItsSampling) {
  const std::string_view chat = R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9, "top_k": 20,
    "min_p": 0.05, "min_new_tokens": 3, "repetition_penalty": 1.05, "no_repeat_ngram_size": 2, "num_beams": 7})";
  const SamplingOptions sampling = decoding_of(chat, 0).sampling;
  EXPECT_EQ(sampling.temperature, 0.6);
  EXPECT_EQ(sampling.top_p, 0.9);
  EXPECT_EQ(sampling.top_k, 20);
  EXPECT_EQ(sampling.min_p, 0.05);
  EXPECT_EQ(sampling.min_tokens, 3);
  EXPECT_EQ(sampling.repetition_penalty, 1.05);
  EXPECT_EQ(sampling.no_repeat_ngram, 2);
  EXPECT_EQ(decoding_of(chat, 0).search.beam, BeamOptions().beam);
  EXPECT_EQ(decoding_of(R"({"do_sample": false, "temperature": 0.6})", 0).sampling.temperature, 0) << "greedy";
}

TEST(GenerationOptions, WhatIsLeftOutOrNullStays) {
  for (const char* text : {"{}", R"({"num_beams": null, "max_length": null, "temperature": null, "top_k": null})"}) {
    DecodingOptions translation;
    translation.search.early_stopping = translation.search.complete = false;
    EXPECT_EQ(to_json(decoding_of(text, 6)), to_json(translation)) << text;
    EXPECT_EQ(to_json(decoding_of(text, 0)), to_json(DecodingOptions())) << text;
  }
}

TEST(GenerationOptions, OutOfRangeAreRefused) {
  const auto refusal = [](std::string_view text, Index encoder_layers) {
    try {
      decoding_of(text, encoder_layers);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(refusal(R"({"num_beams": 0})", 6),
            "generation_config.json: num_beams: must be an integer from 1 to 1000, but is 0");
  EXPECT_EQ(refusal(R"({"do_sample": true, "top_p": 1.5})", 0),
            "generation_config.json: top_p: must be from 0 to 1, but is 1.5");
  EXPECT_EQ(refusal(R"({"do_sample": true, "temperature": -1})", 0),
            "generation_config.json: temperature: must be from 0 up, but is -1");
  EXPECT_EQ(refusal(R"({"do_sample": true, "top_k": -1})", 0),
            "generation_config.json: top_k: must be an integer from 0 to 16777216, but is -1");
}

TEST(GenerationOptions, WhatOnlySamplersReadMattersWhereOneSamples) {
  const SamplingOptions sampling =
      decoding_of(R"({"do_sample": false, "top_k": -1, "top_p": 7, "temperature": "none"})", 0).sampling;
  EXPECT_EQ(sampling.top_k, 0);
  EXPECT_EQ(sampling.top_p, 1);
  EXPECT_EQ(sampling.temperature, 0);
  EXPECT_EQ(decoding_of(R"({"top_k": 50.0})", 0).sampling.top_k, 0);
}

}  // namespace
}  // namespace heed
