// What an encoder's vectors, or a decoder's, are used for: what BERT and its like have above their layers.
//
//   EncoderHeadsOptions heads{.pooler = PoolerKind::tanh, .classifier = ClassifierKind::sequence};
//   heads.labels = {"negative", "positive"};
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/io/fields.h"

namespace heed {

// What makes one vector of a sequence: a dense layer over its first token, in a decoder its last, and this activation.
enum class PoolerKind { none, tanh, relu, gelu };
inline constexpr std::pair<std::string_view, PoolerKind> kPoolerKindNames[] = {
    {"none", PoolerKind::none}, {"tanh", PoolerKind::tanh}, {"relu", PoolerKind::relu}, {"gelu", PoolerKind::gelu}};
inline std::span<const std::pair<std::string_view, PoolerKind>> enum_names(PoolerKind) { return kPoolerKindNames; }

// What the classifier tells the class of.
enum class ClassifierKind {
  none,
  sequence,       // the whole, by its pooled vector, or by its first (last) token's where there is no pooler
  next_sentence,  // whether the second of two texts follows the first, in the same way   (Devlin et al. 2019)
  tokens,         // each token
  spans,          // how likely an answer begins, and how likely it ends, at each token: two "classes"
};
inline constexpr std::pair<std::string_view, ClassifierKind> kClassifierKindNames[] = {
    {"none", ClassifierKind::none},
    {"sequence", ClassifierKind::sequence},
    {"next_sentence", ClassifierKind::next_sentence},
    {"tokens", ClassifierKind::tokens},
    {"spans", ClassifierKind::spans}};
inline std::span<const std::pair<std::string_view, ClassifierKind>> enum_names(ClassifierKind) {
  return kClassifierKindNames;
}

struct EncoderHeadsOptions {
  PoolerKind pooler = PoolerKind::none;
  ClassifierKind classifier = ClassifierKind::none;
  std::vector<std::string> labels;
  bool independent = false;
  bool regression = false;
  bool distilled = false;
  bool masked_words = false;
  bool masked_gelu = false;

  bool any() const { return pooler != PoolerKind::none || classifier != ClassifierKind::none || masked_words; }

  static constexpr std::string_view kLaterFields[] = {"regression", "distilled", "masked_gelu"};

  template <typename V>
  friend void visit_fields(EncoderHeadsOptions& o, V&& visit) {
    visit("pooler", o.pooler,
          "One vector for a sequence, of its first token, or a decoder's last: none, or by tanh, relu or gelu.");
    visit("classifier", o.classifier,
          "What has classes: none, sequence, next_sentence, tokens, or spans (where an answer begins and ends).");
    visit("labels", o.labels, "The names of the classes.");
    visit("independent", o.independent, "The classes do not exclude each other.");
    visit("regression", o.regression, "The numbers of the classes are what is asked for, and no probabilities.");
    visit("distilled", o.distilled, "A second classifier reads the token that learned from a teacher, for the mean.");
    visit("masked_words", o.masked_words, "Words are guessed that a mask hides.");
    visit("masked_gelu", o.masked_gelu, "The layer that guesses them has gelu, whatever the others have.");
  }
};

}  // namespace heed
