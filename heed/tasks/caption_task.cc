#include "heed/tasks/caption_task.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/layers/positions.h"
#include "heed/metrics/bleu.h"
#include "heed/tasks/caption.h"
#include "heed/tasks/model_batch.h"

namespace heed {
namespace {

constexpr std::size_t kSamples = 3;
// What positions begin with is as large as what patches do: at amplitude 1 a patch of a thing, which its one colour
// makes long, drowns them, and the decoder finds each thing long before it finds out where that is.
constexpr float kPositionAmplitude = 4;

std::vector<std::string> read_captions(const std::string& list, const std::string& captions, std::size_t most) {
  const std::vector<std::string> pictures = read_text_lines(list);
  std::vector<std::string> lines = read_text_lines(captions);
  HEED_CHECK(pictures.size() == lines.size(), "{} has {} lines, but {} has {}", text_name(list), pictures.size(),
             text_name(captions), lines.size());
  lines.resize(std::min(most, lines.size()));
  return lines;
}

}  // namespace

CaptionTask::CaptionTask(const TrainPaths& paths, const TrainOptions& options, TrainingMonitor& monitor)
    : options_(options) {
  const auto kept = static_cast<std::size_t>(options.validation_sentences);
  training_.captions = read_captions(paths.source, paths.target, SIZE_MAX);
  validation_.captions = read_captions(paths.valid_source, paths.valid_target, kept);
  training_.pictures = read_picture_list(paths.source);
  validation_.pictures = read_picture_list(paths.valid_source, kept);
  const Index height = training_.pictures.height(), width = training_.pictures.width();
  HEED_CHECK(validation_.pictures.height() == height && validation_.pictures.width() == width,
             "{}: the pictures have {} x {} pixels, but those of {} have {} x {}", paths.valid_source,
             validation_.pictures.width(), validation_.pictures.height(), paths.source, width, height);
  const SignalOptions signal{
      .kind = SignalKind::picture, .channels = 3, .height = height, .width = width, .patch = options.patch};
  signal.check();
  HEED_CHECK(height % options.patch == 0 && width % options.patch == 0,
             "train: a picture of {} x {} pixels has no whole patches of {}", width, height, options.patch);
  HEED_CHECK(signal.positions() <= options.batch_tokens,
             "train: a picture has {} patches, more than batch_tokens, which is {}", signal.positions(),
             options.batch_tokens);
  folder_ = std::make_unique<TrainingFolder>(paths.folder);
  codec_ = prepare_text(*folder_, options, nullptr, {training_.captions}, {validation_.captions}, monitor,
                        training_.pictures.fingerprint + "; " + validation_.pictures.fingerprint);
  config_ = config_for(options, nullptr, codec_);
  config_.transformer.signal = signal;
  encode(training_);
  encode(validation_);
  HEED_CHECK(training_.corpus.size() > 0, "{}: holds no caption to learn", paths.target);
  HEED_CHECK(validation_.corpus.size() > 0, "{}: holds no caption to learn", paths.valid_target);
}

void CaptionTask::encode(Captioned& captioned) const {
  const Index most = std::min(options_.max_tokens, options_.model.max_length() - 1);
  captioned.corpus.target_symbols = codec_.target_symbols;
  const TextEncoding encoding = codec_.target_encoding();
  for (std::size_t i = 0; i < captioned.captions.size(); ++i) {
    std::vector<int> ids = encoding.ids(captioned.captions[i]);
    if (ids.empty() || std::ssize(ids) > most) {
      ++(ids.empty() ? captioned.corpus.dropped_empty : captioned.corpus.dropped_long);
      continue;
    }
    captioned.corpus.pairs.push_back({{}, std::move(ids)});
    captioned.picture_of.push_back(i);
  }
}

std::vector<PairLength> CaptionTask::lengths(const Captioned& captioned) const {
  std::vector<PairLength> lengths = padded_lengths(captioned.corpus);
  for (PairLength& length : lengths) length.source = config_.transformer.signal.positions();
  return lengths;
}

void CaptionTask::begin(const ParameterList& parameters) const {
  const SignalOptions& signal = config_.transformer.signal;
  const Index width = config_.transformer.width, half = width / 2, columns = signal.width / signal.patch;
  const Tensor along = sinusoidal_positions(std::max(columns, signal.height / signal.patch), half);
  const auto put = [&](Index position, float* to) {
    const float* from = along.data<float>() + position * half;
    std::transform(from, from + half, to, [](float x) { return kPositionAmplitude * x; });
  };
  for (const auto& [name, var] : parameters) {
    if (name != "source_positions.weight") continue;
    float* row = var.value().data<float>();
    std::fill_n(row, width, 0.0f);  // the class token's
    for (Index patch = 0; patch + 1 < signal.positions(); ++patch) {
      row += width;
      put(patch / columns, row);
      put(patch % columns, row + half);
    }
  }
}

CorpusReport CaptionTask::report() const {
  return {.sequences = training_.corpus.size(),
          .dropped_empty = training_.corpus.dropped_empty,
          .dropped_long = training_.corpus.dropped_long,
          .source_vocabulary = codec_.target_vocabulary->size(),
          .target_vocabulary = codec_.target_vocabulary->size()};
}

BatchPlan CaptionTask::plan_epoch(Index epoch) const {
  return plan_batches(lengths(training_), {.token_budget = options_.batch_tokens},
                      static_cast<std::uint64_t>(options_.seed), static_cast<std::uint64_t>(epoch));
}

TrainingBatch CaptionTask::make(const Captioned& captioned, std::span<const Index> pairs) const {
  const Batch made = make_batch(captioned.corpus, pairs);
  SequenceBatch batch = make_translation_batch(made);
  std::vector<const Image*> images;
  for (Index pair : pairs) {
    images.push_back(&captioned.pictures.images[captioned.picture_of[static_cast<std::size_t>(pair)]]);
  }
  batch.source = {.signal = picture_values(images, config_.transformer.signal)};
  return {std::move(batch), made.target_tokens};
}

TrainingBatch CaptionTask::batch(std::span<const Index> pairs) const { return make(training_, pairs); }

ValidationScore CaptionTask::measure(const SequenceModel& model, Workspace& workspace) const {
  double nll = 0;
  Index tokens = 0;
  const Context context = Context::inference(workspace);
  const Index budget = std::max(options_.batch_tokens, options_.max_tokens + 1);
  for (const auto& pairs : plan_batches(lengths(validation_), {.token_budget = budget}, /*seed=*/0, /*epoch=*/0)) {
    const LossResult result = model.loss(context, make(validation_, pairs).batch, {.ignore_index = kNoTarget});
    nll += result.nll_sum;
    tokens += result.tokens;
  }
  const Captioner captioner(model, codec_, config_.transformer.signal);
  const std::vector<std::vector<Translation>> captioned = captioner.caption(validation_.pictures.images, {.beam = 1});
  ValidationScore score{.loss = nll / static_cast<double>(tokens)};
  std::vector<std::string> texts;
  Index exact = 0;
  for (std::size_t i = 0; i < captioned.size(); ++i) {
    texts.push_back(captioned[i].front().text);
    exact += texts.back() == validation_.captions[i] ? 1 : 0;
  }
  score.exact = static_cast<double>(exact) / static_cast<double>(texts.size());
  score.bleu = corpus_bleu(texts, std::vector<std::vector<std::string>>{validation_.captions},
                           {.tokenizer = BleuTokenizer::character})
                   .score;
  for (std::size_t i = 0; i < std::min(kSamples, texts.size()); ++i) {
    const std::size_t at = i * texts.size() / kSamples;
    score.samples.push_back({fmt::format("picture {}", at + 1), validation_.captions[at], texts[at]});
  }
  return score;
}

}  // namespace heed
