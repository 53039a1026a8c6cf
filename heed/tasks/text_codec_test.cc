#include "heed/tasks/text_codec.h"

#include <gtest/gtest.h>

#include "heed/tasks/model_batch.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

TEST(TextCodec, AModelsLengthIsFilledByItsRoom) {
  constexpr Index kPositions = 16;
  const std::vector<std::string> lines{"a b"};
  const auto words = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(lines));
  const TextCodec codecs[]{codec_of({words, words}),
                           codec_of_others({words, words}, {.never = {}}, /*translates=*/true),
                           codec_of_others({words, words}, {.never = {}}, /*translates=*/false)};
  for (const TextCodec& codec : codecs) {
    const std::vector<int> source(static_cast<std::size_t>(codec.source_room(kPositions)), 4);
    const std::vector<int> target(static_cast<std::size_t>(codec.target_room(kPositions)), 4);
    const SequenceBatch batch = make_taught_batch(codec, source, target);
    EXPECT_EQ(batch.source.ids.dim(1), kPositions);
    EXPECT_EQ(batch.input.dim(1), kPositions);
  }
}

TEST(TextCodec, AFolderKeepsWhatDecodingIsToldOfTokens) {
  const std::vector<std::string> lines{"a b"};
  const auto words = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(lines));
  for (const SpecialTokens& special : {SpecialTokens{.begin = 0, .ends = {3, 9}, .never = {}},
                                       SpecialTokens{.begin = -1, .ends = {}, .never = {0, 4}, .first = 5}}) {
    const TextCodec codec = codec_of_others({words, words}, special, /*translates=*/true);
    const SpecialTokens kept = codec_from_json(to_json(codec), {words, words}, /*translates=*/true).special;
    EXPECT_EQ(kept.begin, special.begin);
    EXPECT_EQ(kept.ends, special.ends);
    EXPECT_EQ(kept.never, special.never);
    EXPECT_EQ(kept.first, special.first);
  }
  EXPECT_THROW(codec_of_others({words, words}, {.first = 6}, /*translates=*/true), Error);
}

}  // namespace
}  // namespace heed
