#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kPositionWords[] = {
    {"positions",
     {"Sinusoidal positions", "正弦位置编码"},
     {"Attention does not see the order of its keys, so each position has a vector that is added to the embedding of "
      "the word that stands there (Vaswani et al. 2017, section 3.5).",
      "注意力本身看不到键的先后顺序，所以每个位置都有一个向量，加到该处的词嵌入上（Vaswani 等，2017，第 3.5 节）。"}},
    {"positions.frequencies",
     {"each pair of dimensions turns at its own speed", "每一对维度以各自的速度旋转"},
     {"The first pair tells neighbours apart, the last ones hardly move: the hands of a clock.",
      "第一对维度能分清相邻的位置，最后几对几乎不动，就像钟表上快慢不同的指针。"}},
    {"positions.table",
     {"a row for each position", "每个位置一行"},
     {"Every number lies between -1 and 1, at every position, however long the text.",
      "无论文本多长，每个位置上的每个数都在 -1 与 1 之间。"}},
    {"positions.products.even",
     {"every position against every other", "任意两个位置的点积"},
     {"Along a diagonal the numbers are the same: the product of two positions depends on their distance alone, which "
      "is what attention can use.",
      "同一条对角线上的数相同：两个位置的点积只取决于它们的距离，这正是注意力可以利用的。"}},
    {"positions.products.odd",
     {"every position against every other", "任意两个位置的点积"},
     {"With an even width the numbers along a diagonal would be the same: the last sine lacks its cosine here.",
      "宽度为偶数时，同一条对角线上的数会相同；这里最后一个正弦缺少与之配对的余弦。"}},
    {"positions.picture",
     {"the table, shaded", "用深浅表示这张表"},
     {"Light is -1, dark is 1. Positions run down; to the right run the sines, then the cosines: in each half the "
      "waves "
      "get longer from left to right.",
      "浅色是 -1，深色是 1。位置自上而下，从左到右先是正弦、再是余弦；在每一半里，波长从左到右越来越长。"}},
};

}  // namespace

std::span<const WordsEntry> positions() { return kPositionWords; }

}  // namespace heed::words
