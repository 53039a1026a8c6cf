#include "heed/tasks/fill.h"

#include <algorithm>
#include <numeric>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"
#include "heed/base/replace_all.h"
#include "heed/ops/softmax.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/read_texts.h"

namespace heed {
namespace {

constexpr std::string_view kMask = "[MASK]";

std::vector<MaskedWord::Candidate> likeliest(const float* probabilities, Index vocabulary, Index most) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(vocabulary));
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto before = [&](std::int32_t a, std::int32_t b) {
    return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
  };
  const Index kept = std::min(most, vocabulary);
  std::partial_sort(tokens.begin(), tokens.begin() + kept, tokens.end(), before);
  std::vector<MaskedWord::Candidate> candidates;
  for (Index i = 0; i < kept; ++i) {
    const std::int32_t token = tokens[static_cast<std::size_t>(i)];
    candidates.push_back({token, static_cast<double>(probabilities[token])});
  }
  return candidates;
}

}  // namespace

std::vector<std::vector<MaskedWord>> fill_masks(const ModelFolder& folder, std::span<const std::string> lines,
                                                Index most, std::string_view name, Index batch_tokens,
                                                const Progress& progress) {
  const TextReader reader(folder);
  const Vocabulary& vocabulary = reader.vocabulary();
  check_purpose(reader.model().config().encoder_heads.masked_words, folder, "guesses no masked words");
  HEED_CHECK(vocabulary.mask() >= 0, "{}: its vocabulary has no mask", folder.name());
  std::vector<std::string> masked;
  for (const std::string& line : lines) masked.push_back(replace_all(line, kMask, vocabulary.piece(vocabulary.mask())));
  const std::vector<EncodedText> texts = reader.encode(masked, name);
  std::vector<std::vector<MaskedWord>> filled(lines.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<int>& ids = texts[i].ids;
    for (Index at = 0; at < std::ssize(ids); ++at) {
      if (ids[static_cast<std::size_t>(at)] == vocabulary.mask())
        filled[i].push_back({at, {}, {ids.begin(), ids.end()}});
    }
    HEED_CHECK(!filled[i].empty(), "{}:{}: has no {}", name, i + 1, kMask);
  }
  reader.read(
      texts, batch_tokens,
      [&](const ReadBatch& batch) {
        std::vector<MaskedWord*> masks;
        std::vector<std::int32_t> rows;  // of all the batch's tokens
        for (std::size_t row = 0; row < batch.texts.size(); ++row) {
          for (MaskedWord& mask : filled[static_cast<std::size_t>(batch.texts[row])]) {
            masks.push_back(&mask);
            rows.push_back(static_cast<std::int32_t>(static_cast<Index>(row) * batch.hidden.dim(1) + mask.position));
          }
        }
        const Var hidden = gather(batch.context, batch.hidden, Tensor::from(rows, {std::ssize(rows)}));
        const Tensor words = reader.model().heads().masked_word_logits(batch.context, hidden).value();
        softmax(words, words);
        for (std::size_t i = 0; i < masks.size(); ++i) {
          masks[i]->candidates =
              likeliest(words.data<float>() + static_cast<Index>(i) * words.dim(1), words.dim(1), most);
        }
      },
      progress);
  return filled;
}

std::string filled_text(const Vocabulary& vocabulary, const MaskedWord& mask, std::int32_t candidate) {
  std::vector<int> ids(mask.ids.begin(), mask.ids.end());
  ids[static_cast<std::size_t>(mask.position)] = candidate;
  // Other masks stay to be seen.
  std::erase_if(ids, [&](int id) { return id != vocabulary.mask() && vocabulary.is_special(id); });
  return vocabulary.decode(ids, Specials::keep);
}

}  // namespace heed
