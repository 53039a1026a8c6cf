#include "heed/decode/repeated_ngrams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "heed/base/random.h"

namespace heed {
namespace {

using Tokens = std::vector<std::int32_t>;

bool repeats(const Tokens& tokens, std::ptrdiff_t n) {
  std::set<Tokens> came;
  for (auto at = tokens.begin(); tokens.end() - at >= n; ++at) {
    if (!came.insert(Tokens(at, at + n)).second) return true;
  }
  return false;
}

TEST(RepeatedNgrams, AreEndedByThoseTokensAlone) {
  Rng rng(1, 0, 0);
  for (Index n : {1, 2, 3, 5}) {
    Tokens written;
    for (int step = 0; step < 300; ++step) {
      const Tokens banned = repeated_ngram_ends(written, n);
      Tokens allowed;
      for (std::int32_t token = 0; token < 6; ++token) {
        Tokens longer = written;
        longer.push_back(token);
        const bool is_banned = std::ranges::find(banned, token) != banned.end();
        ASSERT_EQ(is_banned, repeats(longer, n)) << "n " << n << ", step " << step << ", token " << token;
        if (!is_banned) allowed.push_back(token);
      }
      if (allowed.empty()) break;
      written.push_back(allowed[static_cast<std::size_t>(rng.uniform() * static_cast<double>(allowed.size()))]);
    }
    EXPECT_GE(std::ssize(written), n == 1 ? 6 : 8);
  }
}

TEST(RepeatedNgrams, OfNoneAreNone) {
  EXPECT_TRUE(repeated_ngram_ends(Tokens{1, 1, 1}, 0).empty());
  EXPECT_TRUE(repeated_ngram_ends(Tokens{}, 1).empty());
  EXPECT_TRUE(repeated_ngram_ends(Tokens{1, 2}, 3).empty());
}

}  // namespace
}  // namespace heed
