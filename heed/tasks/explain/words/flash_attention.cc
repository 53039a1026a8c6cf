#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kFlashAttentionWords[] = {
    {"flash-attention",
     {"FlashAttention's tiles: softmax without a whole row", "FlashAttention 的分块：不用整行也能算 softmax"},
     {"Softmax needs the largest score and the sum of a row, and so, it seems, all scores at once. FlashAttention (Dao "
      "et al. 2022) meets the keys tile after tile and keeps for each query only the running maximum m, the running "
      "sum "
      "l and an output O that is divided at the end. Here are two queries and six keys in tiles of two.",
      "softmax 需要一整行的最大值与总和，看起来必须同时拥有所有得分。FlashAttention（Dao 等，2022）把键分块处理，"
      "每个查询只保存当前最大值 m、累加和 l，以及最后才相除的输出 O。这里有两个查询和六个键，每块两个键。"}},
    {"flash-attention.inputs",
     {"two queries, six keys", "两个查询，六个键"},
     {"The scaled scores will be 1, 3, 2, 5, 0, 4 for the first query and 4, 2, 1, 0, 3, 2 for the second; at no time "
      "are they all in memory.",
      "缩放后的得分，第一个查询是 1、3、2、5、0、4，第二个查询是 4、2、1、0、3、2；任何时候都不会同时存在内存里。"}},
    {"flash-attention.tile-1",
     {"the first two keys", "前两个键"},
     {"Before the first tile there is nothing: m is -inf, so the factor is e^-inf = 0, and l and O begin at 0.",
      "第一块之前什么都没有：m 是 -inf，所以修正系数是 e^-inf = 0，l 和 O 从 0 开始。"}},
    {"flash-attention.tile-2",
     {"a larger score turns up", "出现了更大的得分"},
     {"For the first query 5 is larger than 3: what was summed so far was measured against 3, and the factor e^(3 - 5) "
      "sets it right. For the second query the maximum stays, and the factor is 1.",
      "对第一个查询来说，5 大于 3：此前的累加都是相对于 3 的，乘以修正系数 e^(3 - 5) 就改正过来。"
      "第二个查询的最大值不变，系数是 1。"}},
    {"flash-attention.tile-3",
     {"the last two keys", "最后两个键"},
     {"No maximum changes any more, so the tile is only added. No exponential is ever larger than 1: nothing "
      "overflows.",
      "最大值都不再变化，这一块直接累加即可。任何指数都不超过 1，因此不会溢出。"}},
    {"flash-attention.output",
     {"divided once, at the end", "最后只除一次"},
     {"The log-sum-exp is all that the backward pass needs to compute any weight again: e^(score - log_sum_exp).",
      "反向传播只需要 log-sum-exp，就能重新算出任何一个权重：e^(得分 - log_sum_exp)。"}},
    {"flash-attention.whole",
     {"the same from whole rows", "用整行来算，结果相同"},
     {"Softmax over whole rows gives the same output: the tiles change where numbers are kept, not what is computed.",
      "对整行做 softmax 得到同样的输出：分块改变的是数放在哪里，而不是算什么。"}},
};

}  // namespace

std::span<const WordsEntry> flash_attention() { return kFlashAttentionWords; }

}  // namespace heed::words
