#include "heed/pretrained/choose_heads.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

// What an architecture has above its layers, beside a pooler.
struct Heads {
  ClassifierKind classifier = ClassifierKind::none;
  bool masked_words = false;
  bool chooses = false;      // the classifier of sequences gives a score to each of several, of which one is right
  bool has_teacher = false;  // beside the classifier is one of a token that learned from a teacher
};

struct Architecture {
  std::string_view ending;  // of its name
  Heads heads;
};

// Of encoders without a decoder.
constexpr Architecture kOfEncoders[] = {
    {"ForMaskedLM", {ClassifierKind::none, true}},
    {"ForPreTraining", {ClassifierKind::next_sentence, true}},
    {"ForNextSentencePrediction", {ClassifierKind::next_sentence}},
    {"ForSequenceClassification", {ClassifierKind::sequence}},
    {"ForImageClassification", {ClassifierKind::sequence}},
    {"ForImageClassificationWithTeacher", {ClassifierKind::sequence, false, false, true}},
    {"ForMaskedImageModeling", {}},  // whose pixels nobody asks for, but whose vectors are of use
    {"ForTokenClassification", {ClassifierKind::tokens}},
    {"ForMultipleChoice", {ClassifierKind::sequence, false, true}},
    {"ForQuestionAnswering", {ClassifierKind::spans}},
    {"LMHeadModel", {ClassifierKind::none, true}},
    {"Model", {}},
};

// Of models with a decoder.
constexpr Architecture kOfDecoders[] = {
    {"ForCausalLM", {}},
    {"ForConditionalGeneration", {}},
    {"ForSequenceClassification", {ClassifierKind::sequence}},
    {"ForTokenClassification", {ClassifierKind::tokens}},
    {"ForQuestionAnswering", {ClassifierKind::spans}},
    {"Model", {}},
};

class Choice {
 public:
  Choice(FamilyModel& model, const Checkpoint& file) : model_(model), file_(file), names_(*model.heads) {}

  void make() {
    Heads heads = names_.architecture.empty() ? heads_of_file() : heads_of_architecture();
    if (!model_.config.has_decoder()) leave_out_lost(heads);
    if (heads.masked_words) add_masked_words();
    add_classifier(heads);
    add_pooler_below(heads);
  }

 private:
  bool has_tensor(const std::string& name) const {
    return file_.has(name) ||
           (name.starts_with(model_.prefix) && file_.has(std::string_view(name).substr(model_.prefix.size())));
  }
  bool has(const std::string& path) const { return !path.empty() && has_tensor(path + ".weight"); }
  bool has_part(const std::string& path) const { return has(path) || (!path.empty() && has_tensor(path + ".bias")); }

  bool has_masked_words() const {
    return has(names_.masked_dense) || has(names_.masked_norm) ||
           std::ranges::any_of(names_.masked_bias, [&](auto& name) { return has_tensor(name); });
  }

  // What is below the classifier alone, in the place of the encoder's own pooler.
  const std::string& own_pooler(const Heads& heads) const {
    static const std::string kNone;
    if (heads.classifier != ClassifierKind::sequence) return kNone;
    return heads.chooses ? names_.choice_pooler : names_.sequence_pooler;
  }

  // As encoders are saved whose configuration still names the model that they were made of: what the file has nothing
  // of nobody trained.
  void leave_out_lost(Heads& heads) {
    const bool lost_words = heads.masked_words && !has_masked_words();
    const bool lost_classifier =
        heads.classifier != ClassifierKind::none && !has_part(path_of(heads)) && !has_part(own_pooler(heads));
    if (lost_words) heads.masked_words = false;
    if (lost_classifier) heads.classifier = ClassifierKind::none;
    if (lost_words || lost_classifier) model_.lost_heads = names_.architecture;
  }

  void add(const std::string& parameter, const std::string& tensor) {
    model_.rules.insert(model_.rules.begin(), {parameter, {tensor}});
  }

  Heads heads_of_architecture() const {
    // It tells which tokens are not the text's own, which nobody asks of a model that has been trained: what it is
    // published for is its vectors.
    if (names_.architecture == "ElectraForPreTraining") return {};
    const bool decodes = model_.config.has_decoder();
    const std::span<const Architecture> architectures =
        decodes ? std::span<const Architecture>(kOfDecoders) : std::span<const Architecture>(kOfEncoders);
    for (const auto& [ending, heads] : architectures) {
      if (!names_.architecture.ends_with(ending)) continue;
      // A decoder that was taken out of a model with an encoder is of another build.
      if (ending == "ForCausalLM" && model_.config.has_encoder()) break;
      const bool knows_words = !heads.masked_words || !names_.masked_dense.empty();
      const bool knows_classes = heads.classifier == ClassifierKind::none || !path_of(heads).empty();
      if (knows_words && knows_classes) return heads;
    }
    std::string known;
    for (const Architecture& one : architectures)
      known += fmt::format("{}...{}", known.empty() ? "" : ", ", one.ending);
    fail("{}: is a {}, which heed has not: it has {}", file_.name(), printable(names_.architecture), known);
  }

  Heads heads_of_file() const {
    Heads heads{.masked_words = has(names_.masked_dense)};
    const bool has_pooler =
        !names_.pools_sequences || has(names_.sequence_pooler.empty() ? names_.pooler : names_.sequence_pooler);
    if (has(names_.spans)) {
      heads.classifier = ClassifierKind::spans;
    } else if (has(names_.sequences) && has_pooler) {
      heads.classifier = ClassifierKind::sequence;
    } else if (has(names_.tokens)) {
      heads.classifier = ClassifierKind::tokens;
    } else if (has(names_.next_sentence) && has_pooler) {
      heads.classifier = ClassifierKind::next_sentence;
    }
    return heads;
  }

  std::string path_of(const Heads& heads) const {
    switch (heads.classifier) {
      case ClassifierKind::sequence:
        return heads.has_teacher ? names_.with_teacher : heads.chooses ? names_.choices : names_.sequences;
      case ClassifierKind::next_sentence:
        return names_.next_sentence;
      case ClassifierKind::tokens:
        return names_.tokens;
      case ClassifierKind::spans:
        return names_.spans;
      case ClassifierKind::none:
        break;
    }
    return "";
  }

  void add_pooler(const std::string& path, PoolerKind kind) {
    model_.config.encoder_heads.pooler = kind;
    add("pooler", path);
  }

  void add_pooler_below(const Heads& heads) {
    const bool of_sequences = heads.classifier == ClassifierKind::sequence;
    if (!own_pooler(heads).empty()) {
      add_pooler(own_pooler(heads), heads.chooses ? names_.choice_pooler_kind : names_.sequence_pooler_kind);
    } else if (of_sequences && !names_.pools_sequences) {
      // It reads a token itself, though the file may have a pooler, too.
    } else if (has(names_.pooler) || of_sequences || heads.classifier == ClassifierKind::next_sentence) {
      add_pooler(names_.pooler, PoolerKind::tanh);
    }
  }

  void add_classifier(const Heads& heads) {
    EncoderHeadsOptions& options = model_.config.encoder_heads;
    const ClassifierKind kind = options.classifier = heads.classifier;
    if (kind == ClassifierKind::none) return;
    options.labels = names_.labels;
    options.independent = kind == ClassifierKind::sequence && names_.independent;
    // Of pictures Hugging Face's pipeline makes probabilities all the same.
    options.regression = kind == ClassifierKind::sequence && names_.regression && !model_.config.signal.any();
    if (kind == ClassifierKind::next_sentence) options.labels = {"next", "not next"};
    if (kind == ClassifierKind::spans) options.labels = {"start", "end"};
    if (heads.chooses) {
      options.labels = {"score"};
      options.independent = false, options.regression = true;
    }
    add("classifier", path_of(heads));
    if (heads.has_teacher) {
      options.distilled = true;
      add("distilled_classifier", names_.teacher);
    }
    if (!model_.config.has_decoder()) return;
    // Language models that were made classifiers have no bias there. Their outputs are left out.
    if (!has_tensor(path_of(heads) + ".bias")) add("classifier.bias", "");
    model_.config.has_output = false;
    model_.config.logit_scale = 1;
  }

  void add_masked_words() {
    model_.config.encoder_heads.masked_words = true;
    model_.config.encoder_heads.masked_gelu = names_.masked_gelu;
    add("masked_words.dense", names_.masked_dense);
    add("masked_words.norm", names_.masked_norm);
    add("masked_words.weight", names_.masked_output + ".weight");
    std::string bias = names_.masked_bias.front();
    for (const std::string& name : names_.masked_bias) {
      if (!has_tensor(bias) && has_tensor(name)) bias = name;
    }
    add("masked_words.bias", bias);
  }

  FamilyModel& model_;
  const Checkpoint& file_;
  const EncoderHeadNames& names_;
};

}  // namespace

void choose_heads(FamilyModel& model, const Checkpoint& file) {
  if (model.heads) Choice(model, file).make();
}

}  // namespace heed
