#include "heed/tasks/align.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/check.h"
#include "heed/corpus/corpus.h"
#include "heed/io/fields.h"
#include "heed/observe/observer.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/piece_shares.h"
#include "heed/tasks/purpose.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

constexpr Index kAlignedTokens = 1024;  // weights are as many as their squares

// The weights of layers of cross-attention over a batch: [B, H, Lq, Lk] of each.
class MapRecorder : public AttentionObserver {
 public:
  // Of the layers with these paths; none: of all.
  MapRecorder(Index queries, std::vector<std::string> paths) : queries_(queries), paths_(std::move(paths)) {}

  bool wants(const AttentionSite& site) const override {
    return site.kind == AttentionKind::cross &&
           (paths_.empty() || std::ranges::find(paths_, site.path) != paths_.end());
  }

  // A recurrent decoder shows its queries in order over several calls.
  void on_weights(const AttentionSite& site, ConstView weights) override {
    const Index batch = weights.shape[0], heads = weights.shape[1], queries = weights.shape[2], keys = weights.shape[3];
    auto layer = std::ranges::find(layers_, site.path, &Layer::path);
    if (layer == layers_.end()) {
      layers_.push_back({std::string(site.path), Tensor::zeros(DType::f32, {batch, heads, queries_, keys})});
      layer = layers_.end() - 1;
    }
    HEED_CHECK(layer->filled + queries <= queries_, "align: {}: shows more than the {} queries of the batch", site.path,
               queries_);
    for (Index b = 0; b < batch; ++b)
      for (Index h = 0; h < heads; ++h)
        for (Index i = 0; i < queries; ++i)
          for (Index j = 0; j < keys; ++j)
            layer->weights.at<float>({b, h, layer->filled + i, j}) = weights.at<float>({b, h, i, j});
    layer->filled += queries;
  }

  struct Layer {
    std::string path;
    Tensor weights;
    Index filled = 0;
  };
  const std::vector<Layer>& layers() const { return layers_; }
  const Tensor& weights_of(std::string_view path) const {
    return std::ranges::find(layers_, path, &Layer::path)->weights;
  }

 private:
  Index queries_;
  std::vector<std::string> paths_;
  std::vector<Layer> layers_;
};

// A pair of sentences with what the maps need.
struct PreparedPair {
  std::size_t index;                                              // in the text
  std::vector<bool> source_marks, target_marks;                   // [token]
  std::vector<std::vector<double>> source_shares, target_shares;  // [token][piece]
};

struct PreparedText {
  EncodedCorpus corpus;             // pairs with tokens on both sides
  std::vector<PreparedPair> pairs;  // of the corpus
};

void check_translates_text(const ModelFolder& folder) {
  check_purpose(translates_text(folder.config), folder, "aligns no words");
}

std::vector<bool> punctuation_of(std::string_view sentence) {
  std::vector<bool> marks;
  for (const std::string& token : alignment_tokens(sentence)) {
    marks.push_back(std::ranges::all_of(decode_utf8(token, "align: a sentence"), is_punctuation));
  }
  return marks;
}

bool is_mark(const std::vector<bool>& marks, Index token) {
  return !marks.empty() && marks[static_cast<std::size_t>(token)];
}

PreparedText prepare(const ModelFolder& folder, const TextPairs& text) {
  HEED_CHECK(text.source.size() == text.target.size(), "align: {} source sentences, but {} target sentences",
             text.source.size(), text.target.size());
  PreparedText prepared;
  prepared.corpus.source_symbols = folder.source_symbols, prepared.corpus.target_symbols = folder.target_symbols;
  const Index length = folder.model->max_length();
  const auto checked = [&](std::vector<int> ids, Index most, std::string_view name, std::size_t line) {
    HEED_CHECK(std::ssize(ids) <= most, "{}:{}: the sentence has {} tokens, and the model can hold {}", name,
               static_cast<Index>(line) + text.first_line, ids.size(), most);
    return ids;
  };
  for (std::size_t i = 0; i < text.source.size(); ++i) {
    const std::vector<int> pieces = folder.source_vocabulary->encode(text.source[i]);
    EncodedPair pair{checked(folder.source_ids(text.source[i]), folder.source_room(length), text.source_name, i),
                     checked(folder.target_ids(text.target[i]), folder.target_room(length), text.target_name, i)};
    // Columns of the maps are pieces, as shares count them: what a template adds may only stand behind them.
    HEED_CHECK(std::ranges::mismatch(pair.source, pieces).in2 == pieces.end(),
               "align: the model's template puts tokens before a source, so that its maps are not those of its pieces");
    if (pieces.empty() || pair.target.empty()) continue;
    prepared.corpus.pairs.push_back(std::move(pair));
    prepared.pairs.push_back({i, punctuation_of(text.source[i]), punctuation_of(text.target[i]),
                              piece_shares(*folder.source_vocabulary, text.source[i]),
                              piece_shares(*folder.target_vocabulary, text.target[i])});
  }
  return prepared;
}

// The layers of cross-attention, as a pair of one token each shows them.
std::vector<MapRecorder::Layer> cross_attention_layers(const ModelFolder& folder) {
  check_translates_text(folder);
  const EncodedCorpus smallest{
      .pairs = {{{0}, {0}}}, .source_symbols = folder.source_symbols, .target_symbols = folder.target_symbols};
  const Batch batch = make_batch(smallest, std::vector<Index>{0});
  Workspace workspace;
  MapRecorder recorder(batch.target_length, {});
  folder.model->features(Context::inference(workspace, &recorder), make_translation_batch(batch));
  HEED_CHECK(!recorder.layers().empty(), "align: the model has no cross-attention");
  return recorder.layers();
}

// The paths of the heads' layers.
std::vector<std::string> paths_of(std::span<const AttentionHead> heads, const std::vector<MapRecorder::Layer>& layers) {
  std::vector<std::string> paths;
  for (const AttentionHead& head : heads) {
    HEED_CHECK(head.layer >= 0 && head.layer < std::ssize(layers),
               "align: the model has {} layers of cross-attention, and no layer {}", layers.size(), head.layer);
    const MapRecorder::Layer& layer = layers[static_cast<std::size_t>(head.layer)];
    HEED_CHECK(head.head >= 0 && head.head < layer.weights.dim(1), "align: layer {} has {} heads, and no head {}",
               head.layer, layer.weights.dim(1), head.head);
    paths.push_back(layer.path);
  }
  return paths;
}

BatchPlan plan(const EncodedCorpus& corpus) {
  const std::vector<PairLength> lengths = padded_lengths(corpus);
  Index budget = kAlignedTokens;
  for (const PairLength& length : lengths) budget = std::max({budget, length.source, length.target});
  return plan_batches(lengths, {.token_budget = budget}, /*seed=*/0, /*epoch=*/0);
}

// One head's weights [Lq, Lk], between pieces and with padding, as weights between words.
SoftAlignment between_words(const PreparedPair& pair, ConstView weights, AlignmentStep step) {
  // Piece p is produced by step p, and read by step p + 1 behind the begin token.
  const Index shift = step == AlignmentStep::reads ? 1 : 0;
  const std::size_t pieces = pair.source_shares.empty() ? 0 : pair.source_shares[0].size();
  SoftAlignment soft{
      std::ssize(pair.source_shares), std::ssize(pair.target_shares), {}, pair.source_marks, pair.target_marks};
  for (const std::vector<double>& of_target : pair.target_shares) {
    std::vector<double> by_piece(pieces, 0);
    double counted = 0;  // pieces of the target token
    for (std::size_t q = 0; q < of_target.size(); ++q) {
      if (of_target[q] == 0) continue;
      counted += of_target[q];
      for (std::size_t p = 0; p < pieces; ++p) {
        by_piece[p] += of_target[q] * weights.at<float>({static_cast<Index>(q) + shift, static_cast<Index>(p)});
      }
    }
    for (const std::vector<double>& of_source : pair.source_shares) {
      const double sum = std::inner_product(of_source.begin(), of_source.end(), by_piece.begin(), 0.0);
      soft.weights.push_back(counted > 0 ? static_cast<float>(sum / counted) : 0);
    }
  }
  return soft;
}

}  // namespace

std::string describe(const AlignmentChoice& choice) {
  std::string heads = "mean of the last layer's heads";
  if (!choice.heads.empty()) {
    std::vector<std::string> names;
    for (const AttentionHead& head : choice.heads) names.push_back(fmt::format("{}:{}", head.layer, head.head));
    heads = fmt::format("head{} {} (layer:head)", names.size() == 1 ? "" : "s", fmt::join(names, ", "));
  }
  return fmt::format("{}, the step that {}{}", heads, enum_name(choice.step), describe(choice.rule));
}

std::string describe(const LinkRule& rule) {
  const std::string text =
      fmt::format("{}{}", rule.apart ? ", punctuation apart" : "", rule.balance ? ", balanced" : "");
  if (rule.threshold > 0) return text + fmt::format(", links from {:g}", rule.threshold);
  return rule.free ? text + fmt::format(", free words from {:g}", *rule.free) : text;
}

SoftAlignment kept_apart(SoftAlignment soft) {
  for (Index t = 0; t < soft.target; ++t) {
    for (Index s = 0; s < soft.source; ++s) {
      if (is_mark(soft.target_marks, t) != is_mark(soft.source_marks, s)) soft.weight(t, s) = 0;
    }
  }
  return soft;
}

SoftAlignment balanced(SoftAlignment soft) {
  constexpr int kRounds = 5;
  constexpr float kLeast = 1e-4f;
  for (float& weight : soft.weights) weight += kLeast;
  const auto share = [](Index count, const auto& weight) {
    float sum = 0;
    for (Index i = 0; i < count; ++i) sum += weight(i);
    for (Index i = 0; i < count; ++i) weight(i) /= sum;
  };
  for (int round = 0; round < kRounds; ++round) {
    for (Index s = 0; s < soft.source; ++s) share(soft.target, [&](Index t) -> float& { return soft.weight(t, s); });
    for (Index t = 0; t < soft.target; ++t) share(soft.source, [&](Index s) -> float& { return soft.weight(t, s); });
  }
  return soft;
}

SoftAlignment agreement(const SoftAlignment& forward, const SoftAlignment& backward) {
  HEED_CHECK(forward.source == backward.target && forward.target == backward.source,
             "agreement: {} source and {} target tokens, but the other way round {} and {}", forward.source,
             forward.target, backward.source, backward.target);
  constexpr double kLeast = 0.003;
  SoftAlignment both = forward;
  for (Index t = 0; t < both.target; ++t) {
    for (Index s = 0; s < both.source; ++s) {
      both.weight(t, s) =
          static_cast<float>(std::sqrt((forward.weight(t, s) + kLeast) * (backward.weight(s, t) + kLeast)));
    }
  }
  return both;
}

AlignmentLinks links_of(const SoftAlignment& given, const LinkRule& rule) {
  SoftAlignment soft = rule.apart ? kept_apart(given) : given;
  if (rule.balance) soft = balanced(std::move(soft));
  if (rule.apart) soft = kept_apart(std::move(soft));  // balancing gives every pair a little
  AlignmentLinks links;
  std::vector<bool> linked(static_cast<std::size_t>(soft.source));
  for (Index t = 0; t < soft.target && soft.source > 0; ++t) {
    Index most = 0;
    for (Index s = 0; s < soft.source; ++s) {
      if (rule.threshold > 0 && soft.weight(t, s) >= rule.threshold) links.push_back({s, t});
      if (soft.weight(t, s) > soft.weight(t, most)) most = s;
    }
    if (rule.threshold > 0 || soft.weight(t, most) == 0) continue;
    links.push_back({most, t});
    linked[static_cast<std::size_t>(most)] = true;
  }
  for (Index s = 0; s < soft.source && soft.target > 0 && rule.threshold == 0 && rule.free; ++s) {
    const auto at = static_cast<std::size_t>(s);
    if (linked[at] || (rule.apart && is_mark(soft.source_marks, s))) continue;
    Index most = 0;
    for (Index t = 1; t < soft.target; ++t) {
      if (soft.weight(t, s) > soft.weight(most, s)) most = t;
    }
    if (soft.weight(most, s) > 0 && soft.weight(most, s) >= *rule.free) links.push_back({s, most});
  }
  std::ranges::sort(links);
  return links;
}

SoftAlignment mean_of(std::span<const SoftAlignment> alignments, std::span<const Index> chosen) {
  HEED_CHECK(!chosen.empty(), "mean_of: there is no head");
  SoftAlignment mean = alignments[static_cast<std::size_t>(chosen.front())];
  for (Index one : chosen.subspan(1)) {
    const SoftAlignment& other = alignments[static_cast<std::size_t>(one)];
    for (std::size_t i = 0; i < mean.weights.size(); ++i) mean.weights[i] += other.weights[i];
  }
  for (float& weight : mean.weights) weight /= static_cast<float>(chosen.size());
  return mean;
}

std::vector<std::vector<AttentionHead>> cross_attention_heads(const ModelFolder& folder) {
  std::vector<std::vector<AttentionHead>> heads;
  for (const MapRecorder::Layer& layer : cross_attention_layers(folder)) {
    std::vector<AttentionHead> of_layer;
    for (Index h = 0; h < layer.weights.dim(1); ++h) of_layer.push_back({std::ssize(heads), h});
    heads.push_back(std::move(of_layer));
  }
  return heads;
}

void visit_alignments(const ModelFolder& folder, const TextPairs& text, std::span<const AttentionHead> heads,
                      std::span<const AlignmentStep> steps, const VisitAlignments& visit) {
  const std::vector<std::string> paths = paths_of(heads, cross_attention_layers(folder));
  const PreparedText prepared = prepare(folder, text);
  Workspace workspace;
  for (const std::vector<Index>& pairs : plan(prepared.corpus)) {
    const Batch batch = make_batch(prepared.corpus, pairs);
    MapRecorder recorder(batch.target_length, paths);
    folder.model->features(Context::inference(workspace, &recorder), make_translation_batch(batch));
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      const PreparedPair& pair = prepared.pairs[static_cast<std::size_t>(pairs[row])];
      for (AlignmentStep step : steps) {
        std::vector<SoftAlignment> of_heads;
        for (std::size_t h = 0; h < heads.size(); ++h) {
          const ConstView of_row = select(recorder.weights_of(paths[h]).view(), 0, static_cast<Index>(row));
          of_heads.push_back(between_words(pair, select(of_row, 0, heads[h].head), step));
        }
        visit(pair.index, step, of_heads);
      }
    }
  }
}

std::vector<SoftAlignment> soft_alignments(const ModelFolder& folder, const TextPairs& text,
                                           const AlignmentChoice& choice) {
  const std::vector<AttentionHead> heads = choice.heads.empty() ? cross_attention_heads(folder).back() : choice.heads;
  std::vector<Index> all(heads.size());
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<SoftAlignment> soft(text.source.size());
  visit_alignments(folder, text, heads, {&choice.step, 1},
                   [&](std::size_t pair, AlignmentStep, std::span<const SoftAlignment> of_heads) {
                     soft[pair] = mean_of(of_heads, all);
                   });
  return soft;
}

}  // namespace heed
