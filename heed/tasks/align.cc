#include "heed/tasks/align.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/corpus/corpus.h"
#include "heed/io/fields.h"
#include "heed/observe/observer.h"
#include "heed/tasks/model_batch.h"

namespace heed {
namespace {

constexpr std::size_t kBatchSentences = 32;
constexpr std::string_view kBlanks = " \t\r\n";

// --- From pieces to words --------------------------------------------------------------------------------------------

Index code_points(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

std::vector<std::string_view> split_at_blanks(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

// Characters that the piece has in the text, spaces not counted.
double visible_length(const Vocabulary& vocabulary, int id) {
  std::string text = vocabulary.decode({&id, 1});
  std::erase(text, ' ');
  return static_cast<double>(code_points(text));
}

// Lays pieces and tokens along one line of length 1, each in proportion to its characters, and notes which share of
// each piece lies over each token: into shares[token][first_piece + piece]. Both spell the same
// word unless the vocabulary has changed or lost characters, so that only the proportions can be trusted. A piece
// without characters (a space alone) is of the token that it opens.
void lay_side_by_side(std::span<const double> piece_lengths, std::span<const double> token_lengths,
                      std::size_t first_piece, std::span<std::vector<double>> shares) {
  const double pieces = std::reduce(piece_lengths.begin(), piece_lengths.end());
  const double tokens = std::reduce(token_lengths.begin(), token_lengths.end());
  constexpr double kRounding = 1e-9;
  double token_begin = 0;
  for (std::size_t t = 0; t < token_lengths.size(); ++t) {
    const bool last = t + 1 == token_lengths.size();
    const double token_end = last ? 1 : token_begin + token_lengths[t] / tokens;
    double begin = 0;
    for (std::size_t p = 0; p < piece_lengths.size(); ++p) {
      const double end = begin + (pieces > 0 ? piece_lengths[p] / pieces : 0);
      const double overlap = std::min(end, token_end) - std::max(begin, token_begin);
      double& share = shares[t][first_piece + p];
      if (overlap > kRounding) {
        share = overlap / (end - begin);
      } else if (piece_lengths[p] == 0 && begin > token_begin - kRounding && (last || begin < token_end - kRounding)) {
        share = 1;
      }
      begin = end;
    }
    token_begin = token_end;
  }
}

}  // namespace

std::vector<std::vector<double>> piece_shares(const Vocabulary& vocabulary, std::string_view sentence) {
  const std::vector<int> ids = vocabulary.encode(sentence);
  std::vector<double> piece_lengths;
  for (int id : ids) piece_lengths.push_back(visible_length(vocabulary, id));

  // Words one by one, so that a character lost in one moves nothing in the others; unless they cannot be told apart.
  std::vector<std::string_view> words = split_at_blanks(sentence);
  std::vector<int> word_of_piece = vocabulary.word_of_pieces(ids);
  if (ids.size() == words.size()) std::iota(word_of_piece.begin(), word_of_piece.end(), 0);  // "läu@@ ft" too
  const int last = word_of_piece.empty() ? -1 : *std::ranges::max_element(word_of_piece);
  if (last + 1 != static_cast<int>(words.size()) || !std::ranges::is_sorted(word_of_piece)) {
    words = {sentence};
    std::ranges::fill(word_of_piece, 0);
  }

  std::vector<std::vector<double>> shares(alignment_tokens(sentence).size(), std::vector<double>(ids.size(), 0));
  std::size_t token = 0, piece = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    std::vector<double> token_lengths;
    for (const std::string& text : alignment_tokens(words[w])) {
      token_lengths.push_back(static_cast<double>(code_points(text)));
    }
    const std::size_t begin = piece;
    while (piece < ids.size() && word_of_piece[piece] <= static_cast<int>(w)) ++piece;
    lay_side_by_side(std::span(piece_lengths).subspan(begin, piece - begin), token_lengths, begin,
                     std::span(shares).subspan(token));
    token += token_lengths.size();
  }
  return shares;
}

namespace {

// --- Running the model -----------------------------------------------------------------------------------------------

// The cross-attention of a batch, layer by layer: [B, H, Lq, Lk] of each.
class CrossAttentionRecorder : public AttentionObserver {
 public:
  CrossAttentionRecorder(Index queries, std::optional<std::string_view> path) : queries_(queries), path_(path) {}

  bool wants(const AttentionSite& site) const override {
    return site.kind == AttentionKind::cross && (!path_ || site.path == *path_);
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

 private:
  Index queries_;
  std::optional<std::string_view> path_;
  std::vector<Layer> layers_;
};

// A pair of sentences with what the maps need.
struct PreparedPair {
  std::size_t line;
  std::vector<std::vector<double>> source_shares, target_shares;  // [token][piece]
};

struct PreparedText {
  EncodedCorpus corpus;             // pairs with tokens on both sides
  std::vector<PreparedPair> pairs;  // of the corpus
};

PreparedText prepare(const ModelFolder& folder, const AlignedText& text) {
  HEED_CHECK(text.source.size() == text.target.size(), "align: {} source sentences, but {} target sentences",
             text.source.size(), text.target.size());
  PreparedText prepared;
  prepared.corpus.source_symbols = folder.source_symbols, prepared.corpus.target_symbols = folder.target_symbols;
  const Index most = folder.model->max_length() - 1;
  const auto checked = [&](std::vector<int> ids, std::string_view name, std::size_t line) {
    HEED_CHECK(static_cast<Index>(ids.size()) <= most, "{}:{}: the sentence has {} tokens, and the model can hold {}",
               name, line + 1, ids.size(), most);
    return ids;
  };
  for (std::size_t i = 0; i < text.source.size(); ++i) {
    const std::vector<int> pieces = folder.source_vocabulary->encode(text.source[i]);
    EncodedPair pair{checked(folder.source_ids(text.source[i]), text.source_name, i),
                     checked(folder.target_ids(text.target[i]), text.target_name, i)};
    // Columns of the maps are pieces, as shares count them: what a template adds may only stand behind them.
    HEED_CHECK(std::ranges::mismatch(pair.source, pieces).in2 == pieces.end(),
               "align: the model's template puts tokens before a source, so that its maps are not those of its pieces");
    if (pieces.empty() || pair.target.empty()) continue;
    prepared.corpus.pairs.push_back(std::move(pair));
    prepared.pairs.push_back({i, piece_shares(*folder.source_vocabulary, text.source[i]),
                              piece_shares(*folder.target_vocabulary, text.target[i])});
  }
  return prepared;
}

// Pairs of like length together: little padding.
std::vector<std::vector<Index>> batches_of(const EncodedCorpus& corpus) {
  std::vector<Index> order(corpus.pairs.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, {}, [&](Index i) {
    const EncodedPair& pair = corpus.pairs[static_cast<std::size_t>(i)];
    return std::pair(pair.target.size(), pair.source.size());
  });
  std::vector<std::vector<Index>> batches;
  for (std::size_t begin = 0; begin < order.size(); begin += kBatchSentences) {
    const std::size_t end = std::min(order.size(), begin + kBatchSentences);
    batches.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return batches;
}

// One sentence's weights of one layer, [H, Lq, Lk] with padding.
using VisitMap = std::function<void(const PreparedPair& pair, const std::string& path, ConstView weights)>;

// Runs the model over every pair and shows the cross-attention of each, of one layer or of all.
void visit_maps(const ModelFolder& folder, const PreparedText& text, std::optional<std::string_view> path,
                const VisitMap& visit) {
  Workspace workspace;
  for (const std::vector<Index>& pairs : batches_of(text.corpus)) {
    const Batch batch = make_batch(text.corpus, pairs);
    CrossAttentionRecorder recorder(batch.target_length, path);
    const Context context = Context::inference(workspace, &recorder);
    folder.model->features(context, make_translation_batch(batch));
    for (const CrossAttentionRecorder::Layer& layer : recorder.layers()) {
      for (std::size_t row = 0; row < pairs.size(); ++row) {
        visit(text.pairs[static_cast<std::size_t>(pairs[row])], layer.path,
              select(layer.weights.view(), 0, static_cast<Index>(row)));
      }
    }
  }
}

// --- From weights to links -------------------------------------------------------------------------------------------

// The weight that a head gives to a source piece at a decoder step; the sum over heads where all count, which orders
// pieces as the mean does.
double weight_at(ConstView weights, std::optional<Index> head, Index step, Index key) {
  if (head) return weights.at<float>({*head, step, key});
  double sum = 0;
  for (Index h = 0; h < weights.shape[0]; ++h) sum += weights.at<float>({h, step, key});
  return sum;
}

AlignmentLinks links_of(const PreparedPair& pair, ConstView weights, std::optional<Index> head, AlignmentStep step) {
  // Piece p is produced by step p, and read by step p + 1 behind the begin token.
  const Index shift = step == AlignmentStep::reads ? 1 : 0;
  const std::size_t pieces = pair.source_shares.empty() ? 0 : pair.source_shares[0].size();
  AlignmentLinks links;
  for (std::size_t t = 0; t < pair.target_shares.size(); ++t) {
    std::vector<double> by_piece(pieces, 0);
    for (std::size_t q = 0; q < pair.target_shares[t].size(); ++q) {
      const double share = pair.target_shares[t][q];
      if (share == 0) continue;
      for (std::size_t p = 0; p < pieces; ++p) {
        by_piece[p] += share * weight_at(weights, head, static_cast<Index>(q) + shift, static_cast<Index>(p));
      }
    }
    std::vector<double> by_token;
    for (const std::vector<double>& shares : pair.source_shares) {
      by_token.push_back(std::inner_product(shares.begin(), shares.end(), by_piece.begin(), 0.0));
    }
    const auto most = std::ranges::max_element(by_token);
    if (most != by_token.end()) links.push_back({most - by_token.begin(), static_cast<Index>(t)});
  }
  std::ranges::sort(links);
  return links;
}

}  // namespace

std::string describe(const AttentionHead& head) {
  return fmt::format("{}, {}, the step that {}", head.path,
                     head.head ? fmt::format("head {}", *head.head) : "mean of heads", enum_name(head.step));
}

AlignedText read_aligned_text(const std::filesystem::path& source, const std::filesystem::path& target,
                              const std::filesystem::path& gold, bool one_based) {
  AlignedText text{read_text_lines(source), read_text_lines(target), {}, source.string(), target.string()};
  const std::string gold_name = gold.string();
  text.gold = parse_gold_alignments(read_text_lines(gold), {.name = gold_name, .one_based = one_based});
  HEED_CHECK(!text.source.empty(), "{}: is empty", text.source_name);
  HEED_CHECK(text.source.size() == text.target.size() && text.source.size() == text.gold.size(),
             "{} has {} lines, {} has {} and {} has {}: they must be as many", text.source_name, text.source.size(),
             text.target_name, text.target.size(), gold_name, text.gold.size());
  return text;
}

std::vector<AlignmentLinks> align_with_attention(const ModelFolder& folder, const AlignedText& text,
                                                 const AttentionHead& head) {
  std::vector<AlignmentLinks> links(text.source.size());
  const PreparedText prepared = prepare(folder, text);
  bool seen = prepared.pairs.empty();
  visit_maps(folder, prepared, head.path, [&](const PreparedPair& pair, const std::string& path, ConstView weights) {
    HEED_CHECK(!head.head || (*head.head >= 0 && *head.head < weights.shape[0]),
               "align: {} has {} heads, and no head {}", path, weights.shape[0], *head.head);
    links[pair.line] = links_of(pair, weights, head.head, head.step);
    seen = true;
  });
  HEED_CHECK(seen, "align: the model has no cross-attention {}", head.path);
  return links;
}

const AlignmentCandidate& AlignmentSearch::best() const {
  HEED_CHECK(!candidates.empty(), "AlignmentSearch: no head was tried");
  return *std::ranges::min_element(candidates, {}, [](const auto& candidate) { return candidate.score.error_rate; });
}

AlignmentSearch search_attention_heads(const ModelFolder& folder, const AlignedText& text) {
  struct Tried {
    AttentionHead head;
    std::vector<AlignmentLinks> links;
  };
  std::vector<Tried> tried;
  std::map<std::string, std::size_t> first_of_layer;  // in tried
  const PreparedText prepared = prepare(folder, text);
  visit_maps(folder, prepared, {}, [&](const PreparedPair& pair, const std::string& path, ConstView weights) {
    const auto [at, is_new] = first_of_layer.try_emplace(path, tried.size());
    if (is_new) {
      for (Index h = weights.shape[0] > 1 ? -1 : 0; h < weights.shape[0]; ++h) {
        for (const auto& [name, step] : kAlignmentStepNames) {
          const std::optional<Index> head = h < 0 ? std::nullopt : std::optional(h);
          tried.push_back({{path, head, step}, std::vector<AlignmentLinks>(text.source.size())});
        }
      }
    }
    for (std::size_t i = at->second; i < tried.size() && tried[i].head.path == path; ++i) {
      tried[i].links[pair.line] = links_of(pair, weights, tried[i].head.head, tried[i].head.step);
    }
  });
  HEED_CHECK(!tried.empty(), "align: the text has no sentence with tokens, or the model has no cross-attention");
  AlignmentSearch search;
  for (const Tried& one : tried) search.candidates.push_back({one.head, score_alignments(one.links, text.gold)});
  return search;
}

}  // namespace heed
