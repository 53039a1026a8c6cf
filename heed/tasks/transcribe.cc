#include "heed/tasks/transcribe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "heed/base/check.h"
#include "heed/decode/prompted_search.h"
#include "heed/observe/recorder.h"
#include "heed/sound/log_mel.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/time_warp.h"
#include "heed/tasks/trace_signal.h"
#include "heed/text/batching.h"
#include "heed/text/bounded_vocabulary.h"

namespace heed {
namespace {

constexpr Index kPositionSamples = 2 * kLogMelHop;  // of the encoder's: the second convolution moves by two frames
constexpr double kPositionSeconds = static_cast<double>(kPositionSamples) / static_cast<double>(kLogMelRate);
constexpr std::string_view kSpaces = " \t\r\n";

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(kSpaces); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpaces, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kSpaces, end);
  }
  return words;
}

// "decoder.layers.3.multihead_attn" and its like.
std::string cross_path(Index layer) { return fmt::format("decoder.layers.{}.multihead_attn", layer); }

// How many of the encoder's positions hold sound.
Index heard_positions(Index samples, Index positions) {
  return std::clamp<Index>(ceil_div(samples, kPositionSamples), 1, positions);
}

}  // namespace

Transcriber::Transcriber(const std::filesystem::path& folder) : opened_(load_bare_model(folder)) {
  const TransformerConfig& config = opened_.config.transformer;
  check_purpose(config.signal.kind == SignalKind::sound && config.has_decoder(), opened_, "hears no speech");
  vocabulary_ = bounded_vocabulary(vocabularies_of(folder).target, config.target_vocabulary);
  speech_ = read_speech_generation(folder);
  const auto check = [&](std::int32_t id) {
    HEED_CHECK(id < config.target_vocabulary, "{}: a token that its generation_config.json names, {}, is none of {}",
               folder.string(), id, config.target_vocabulary);
  };
  for (const auto& ids : {speech_.languages, speech_.tasks}) {
    for (const auto& [name, id] : ids) check(id);
  }
  for (const auto& ids : {speech_.ends, speech_.forced, speech_.never, speech_.never_first})
    std::ranges::for_each(ids, check);
  std::ranges::for_each(Ids{speech_.start, speech_.no_timestamps}, check);
  for (const auto& [layer, head] : speech_.alignment_heads) {
    HEED_CHECK(layer < config.decoder_layers && head < config.heads,
               "{}: alignment_heads: there is no head {} in layer {}", folder.string(), head, layer);
  }
}

Transcriber::~Transcriber() = default;

std::int32_t Transcriber::heard_language(const Tensor& bands, Workspace& workspace) const {
  if (speech_.languages.empty()) return -1;
  const Context context = Context::inference(workspace);
  const Ids start{speech_.start};
  const Var logits = opened_.model->logits(context, {{.signal = bands}, Tensor::from(start, {1, 1})});
  std::int32_t best = speech_.languages.begin()->second;
  const float* row = logits.value().data<float>();
  for (const auto& [code, id] : speech_.languages) {
    if (row[id] > row[best]) best = id;
  }
  return best;
}

Transcriber::Ids Transcriber::search(const Tensor& bands, const Ids& prompt, Index beam, Workspace& workspace) const {
  const Index most = opened_.model->max_length() - std::ssize(prompt);
  HEED_CHECK(most >= 1, "transcribe: the model has no room for text behind {} tokens", prompt.size());
  const SpecialTokens special{
      .begin = speech_.start, .ends = speech_.ends, .never = speech_.never, .never_first = speech_.never_first};
  const BeamOptions options{.beam = beam, .complete = false};
  Searches searches;
  searches.push_back(
      std::make_unique<PromptedSearch>(prompt, std::make_unique<BeamSearch>(options, special, prompt.back(), most)));
  std::vector<Hypothesis> best = decode(*opened_.model, {.signal = bands}, std::move(searches), workspace)[0];
  return best.empty() ? Ids{} : best.front().tokens;
}

std::int32_t Transcriber::language_of(const TranscriptionOptions& options) const {
  return options.language.empty() ? -1 : speech_.language_id(options.language);
}

Transcriber::Heard Transcriber::hear(std::span<const float> samples, std::int32_t language,
                                     const TranscriptionOptions& options, Workspace& workspace) const {
  const SignalOptions& signal = opened_.config.transformer.signal;
  Heard heard{.bands = log_mel(samples, {.bands = signal.channels, .frames = signal.frames}), .language = language};
  if (language < 0) heard.language = heard_language(heard.bands, workspace);
  heard.prompt = speech_.prompt(heard.language, options.task);
  heard.tokens = search(heard.bands, heard.prompt, options.beam, workspace);
  return heard;
}

std::vector<TimedWord> Transcriber::timed_words(const Heard& heard, Index samples, Workspace& workspace) const {
  const Ids& tokens = heard.tokens;
  if (tokens.empty()) return {};
  const TransformerConfig& config = opened_.config.transformer;
  std::vector<std::array<Index, 2>> heads = speech_.alignment_heads;
  for (Index layer = config.decoder_layers / 2; speech_.alignment_heads.empty() && layer < config.decoder_layers;
       ++layer) {
    for (Index head = 0; head < config.heads; ++head) heads.push_back({layer, head});
  }
  std::set<std::string> paths;
  for (const auto& [layer, head] : heads) paths.insert(cross_path(layer));

  Ids read = heard.prompt;
  read.insert(read.end(), tokens.begin(), tokens.end());
  const Index rows = std::ssize(read), positions = config.signal.positions();
  AttentionRecorder recorder({.row = 0, .source_length = positions, .target_length = rows}, {},
                             [&](const AttentionSite& site) { return paths.contains(std::string(site.path)); });
  opened_.model->features(Context::inference(workspace, &recorder),
                          {{.signal = heard.bands}, Tensor::from(read, {1, rows})});
  const std::vector<AttentionTrace::Map> maps = recorder.take_maps();

  // The share of each position among those that hold sound.
  const Index sounding = heard_positions(samples, positions);
  std::vector<float> weights;
  for (const auto& [layer, head] : heads) {
    const std::string path = cross_path(layer);
    const AttentionTrace::Map& map = *std::ranges::find(maps, path, &AttentionTrace::Map::path);
    for (Index row = 0; row < rows; ++row) {
      double sum = std::numeric_limits<double>::min();
      for (Index at = 0; at < sounding; ++at) sum += double{map.weight(head, row, at)};
      for (Index at = 0; at < sounding; ++at) weights.push_back(static_cast<float>(map.weight(head, row, at) / sum));
    }
  }
  const std::vector<double> matrix = sharpened(weights, std::ssize(heads), rows, sounding);
  // A token is said where the one before it looks, which predicts it; the last one ends where the end is predicted.
  const Index first = std::ssize(heard.prompt) - 1, said = rows - first;
  const std::vector<Index> starts =
      warped_starts(std::span(matrix).subspan(static_cast<std::size_t>(first * sounding)), said, sounding);

  const std::vector<int> numbers = vocabulary_->word_of_pieces(tokens);
  const std::vector<std::string> texts = words_of(vocabulary_->decode(tokens));
  std::vector<TimedWord> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto number = static_cast<std::size_t>(numbers[i]);
    if (numbers[i] < 0 || number >= texts.size()) continue;
    const double begin = static_cast<double>(starts[i]) * kPositionSeconds;
    if (number >= words.size()) words.resize(number + 1, {"", begin, begin});
    words[number].text = texts[number];
    words[number].end = static_cast<double>(starts[i + 1]) * kPositionSeconds;
  }
  std::erase_if(words, [](const TimedWord& word) { return word.text.empty(); });
  return words;
}

AttentionTrace Transcriber::trace(const Wave& wave, const TranscriptionOptions& options,
                                  const TraceParts& parts) const {
  const SignalOptions& signal = opened_.config.transformer.signal;
  const Wave all = resampled(wave, kLogMelRate);
  const std::span<const float> samples =
      std::span(all.samples).first(std::min(all.samples.size(), static_cast<std::size_t>(signal.frames * kLogMelHop)));
  Workspace workspace;
  const Heard heard = hear(samples, language_of(options), options, workspace);
  Ids ids = heard.prompt;
  ids.insert(ids.end(), heard.tokens.begin(), heard.tokens.end());
  ids.push_back(speech_.ends.empty() ? kNoTarget : speech_.ends.front());
  const Index positions = heard_positions(std::ssize(samples), signal.positions());
  return trace_signal(*opened_.model, heard.bands, sound_side(positions, kPositionSeconds), *vocabulary_, ids,
                      trimmed(vocabulary_->decode(heard.tokens)), parts);
}

Transcription Transcriber::transcribe(const Wave& wave, const TranscriptionOptions& options,
                                      const Progress& progress) const {
  const SignalOptions& signal = opened_.config.transformer.signal;
  const Wave sound = resampled(wave, kLogMelRate);
  const auto piece = static_cast<std::size_t>(signal.frames * kLogMelHop);
  std::int32_t language = language_of(options);
  Workspace workspace;
  Transcription all;
  for (std::size_t begin = 0; begin < sound.samples.size(); begin += piece) {
    const std::span<const float> samples =
        std::span(sound.samples).subspan(begin, std::min(piece, sound.samples.size() - begin));
    const Heard heard = hear(samples, language, options, workspace);
    language = heard.language;
    const std::string text = trimmed(vocabulary_->decode(heard.tokens));
    if (!text.empty()) all.text += (all.text.empty() ? "" : " ") + text;
    if (options.words) {
      const double offset = static_cast<double>(begin) / static_cast<double>(kLogMelRate);
      for (TimedWord& word : timed_words(heard, std::ssize(samples), workspace)) {
        all.words.push_back({std::move(word.text), word.begin + offset, word.end + offset});
      }
    }
    if (progress) progress(static_cast<Index>(begin / piece) + 1);
  }
  for (const auto& [code, id] : speech_.languages) {
    if (id == language) all.language = code;
  }
  return all;
}

}  // namespace heed
