#include "heed/tasks/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"
#include "heed/models/transformer.h"
#include "heed/observe/recorder.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/read_texts.h"
#include "heed/tasks/trace_side.h"
#include "heed/tasks/trace_signal.h"

namespace heed {
namespace {

// Of an impossible token, which a search keeps where there is no other.
double finite(double log_probability) { return std::max(log_probability, -1e30); }

std::vector<int> fit_to_model(std::string_view name, std::span<const int> ids, Index most, bool crop) {
  HEED_CHECK(crop || std::ssize(ids) <= most, "{} has {} tokens, and the model can hold {}", name, ids.size(), most);
  ids = ids.first(static_cast<std::size_t>(std::min(std::ssize(ids), most)));
  return {ids.begin(), ids.end()};
}

std::span<const std::int32_t> ids_of(const Tensor& ids) {
  return {ids.data<std::int32_t>(), static_cast<std::size_t>(ids.size())};
}

// One pass over the source, if there is one, and the target.
AttentionTrace record(const ModelFolder& folder, std::span<const int> source_ids, const TracedText& source_text,
                      const std::vector<int>& target_ids, const TracedText& target_text, const TraceParts& parts) {
  const SequenceBatch batch = make_taught_batch(folder, source_ids, target_ids);
  const Tensor& source = batch.source.ids;
  AttentionRecorder recorder(
      {.row = 0, .source_length = source ? source.size() : 0, .target_length = batch.input.size()}, parts);
  Workspace workspace;
  folder.model->features(Context::inference(workspace, &recorder), batch);
  AttentionTrace trace =
      take_trace(recorder, source ? trace_side(*folder.source_vocabulary, ids_of(source), source_text) : TraceSide{});
  // What is read and what is answered are one sequence, one token apart.
  const std::span<const std::int32_t> read = ids_of(batch.input);
  std::vector<std::int32_t> ids(read.begin(), read.end());
  ids.push_back(ids_of(batch.output).back());
  const TraceSide side = trace_side(*folder.target_vocabulary, ids, target_text);
  trace.decoder = part_of(side, 0, std::ssize(read)), trace.target = part_of(side, 1, std::ssize(read));
  return trace;
}

// The text of ids that are the first of those of `text`: for words, what lies behind them is not there.
std::string text_of(const Vocabulary& vocabulary, const std::vector<int>& ids, const std::string& text,
                    std::size_t all_ids) {
  return ids.size() < all_ids ? vocabulary.decode(ids) : text;
}

AttentionTrace trace_translation(const ModelFolder& folder, const std::string& source_text,
                                 std::span<const int> given_ids, const std::string& target_text, bool counted,
                                 const TraceOptions& options) {
  check_purpose(translates_text(folder.config), folder, "translates no text");
  const Index max_length = folder.model->max_length();
  const std::vector<int> all_ids = folder.source_ids(source_text);
  const std::vector<int> source_ids =
      fit_to_model("trace_pair: the source", all_ids, folder.source_room(max_length), options.crop);
  const std::vector<int> target_ids =
      fit_to_model("trace_pair: the target", given_ids, folder.target_room(max_length), options.crop);
  HEED_CHECK(!source_ids.empty(), "trace_pair: the source has no tokens");
  const auto around = [](const SymbolIds& symbols) {
    return std::vector<std::int32_t>{symbols.begin, symbols.end, symbols.pad};
  };
  const std::string read = text_of(*folder.source_vocabulary, source_ids, source_text, all_ids.size());
  const std::string written = text_of(*folder.target_vocabulary, target_ids, target_text, given_ids.size());
  AttentionTrace trace =
      record(folder, source_ids, {.text = read, .counted = counted, .around = around(folder.source_symbols)},
             target_ids, {.text = written, .counted = counted, .around = around(folder.target_symbols)}, options.parts);
  trace.source.text = source_text;
  return trace;
}

}  // namespace

bool is_encoder(const ModelFolder& folder) {
  const auto* model = dynamic_cast<const Transformer*>(folder.model.get());
  return model != nullptr && !model->config().has_decoder();
}

AttentionTrace trace_pair(const ModelFolder& folder, const std::string& source_text, std::span<const int> target_ids,
                          const TraceOptions& options) {
  const std::vector<int> ids(target_ids.begin(), target_ids.end());
  return trace_translation(folder, source_text, target_ids, folder.target_vocabulary->decode(ids), false, options);
}

AttentionTrace trace_aligned_pair(const ModelFolder& folder, const std::string& source_text,
                                  const std::string& target_text, const GoldAlignment& gold,
                                  const TraceOptions& options) {
  AttentionTrace trace =
      trace_translation(folder, source_text, folder.target_ids(target_text), target_text, true, options);
  for (const AlignmentLink& link : gold.possible) {
    const auto [source, target] = link;
    HEED_CHECK(source < trace.source.word_count() && target < trace.target.word_count(),
               "the alignment links word {} to word {}, but the sentences have {} and {} words, counted from 0", source,
               target, trace.source.word_count(), trace.target.word_count());
    trace.gold.push_back({source, target, std::ranges::find(gold.sure, link) != gold.sure.end()});
  }
  return trace;
}

std::vector<AttentionTrace::Step> trace_search(const ModelFolder& folder, const std::string& source_text,
                                               const BeamOptions& beam, bool crop, Index likeliest) {
  check_purpose(translates_text(folder.config), folder, "translates no text");
  const std::vector<int> ids = fit_to_model("trace_search: the source", folder.source_ids(source_text),
                                            folder.source_room(folder.model->max_length()), crop);
  HEED_CHECK(!ids.empty(), "trace_search: the source has no tokens");
  Workspace workspace;
  const TokenBatch source = make_token_batch({&ids, 1}, folder.source_symbols);
  const RecordedSearch recorded = record_beam_search(*folder.model, source, beam, folder.special, likeliest, workspace);
  const auto text = [&](std::int32_t token) { return readable_piece(*folder.target_vocabulary, token); };
  std::vector<AttentionTrace::Step> steps;
  for (const SearchStep& step : recorded.steps) {
    AttentionTrace::Step& shown = steps.emplace_back();
    for (const SearchStep::Kept& kept : step.kept) {
      AttentionTrace::Hypothesis& hypothesis = shown.hypotheses.emplace_back(AttentionTrace::Hypothesis{
          kept.parent, text(kept.token), finite(kept.log_probability), finite(kept.sum), {}});
      for (const auto& [token, probability] : kept.likeliest) {
        hypothesis.candidates.push_back({text(token), probability});
      }
    }
  }
  return steps;
}

AttentionTrace trace_text(const ModelFolder& folder, std::span<const int> ids, const TraceOptions& options,
                          std::string_view name) {
  HEED_CHECK(!folder.model->has_source(), "trace_text: the model translates: its text has a source");
  HEED_CHECK(!ids.empty(), "{}: has no tokens", name);
  const std::vector<int> read =
      fit_to_model(fmt::format("{}:", name), ids, folder.target_room(folder.model->max_length()), options.crop);
  return record(folder, {}, {}, read, {.text = folder.target_vocabulary->decode(read)}, options.parts);
}

AttentionTrace trace_encoded(const ModelFolder& folder, const std::string& text,
                             const std::optional<std::string>& second, const TraceParts& parts) {
  HEED_CHECK(is_encoder(folder), "trace_encoded: the model is no encoder alone: it has a decoder");
  const TextReader reader(folder);
  const std::string line = second ? text + "\t" + *second : text;
  const EncodedText encoded = reader.encode({&line, 1}, "trace_encoded").front();
  const Index length = std::ssize(encoded.ids);
  const Tensor ids = Tensor::from(encoded.ids, {1, length});
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{static_cast<std::int32_t>(length)}, {1});
  // A model of one type has no vectors for what a template calls the second.
  Tensor types;
  if (reader.model().config().token_types > 1) types = Tensor::from(encoded.types, {1, length});
  AttentionRecorder recorder({.row = 0, .source_length = length, .target_length = 0}, parts);
  Workspace workspace;
  reader.model().encode(Context::inference(workspace, &recorder), {.ids = ids, .lengths = lengths}, types);
  return take_trace(recorder, trace_side(reader.vocabulary(), encoded.ids,
                                         {.text = text, .second = second.value_or(""), .is_pair = second.has_value()}));
}

}  // namespace heed
