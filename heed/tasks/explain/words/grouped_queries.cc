#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kGroupedQueryWords[] = {
    {"gqa",
     {"Grouped-query attention: four heads share two", "分组查询注意力：四个头共用两个头"},
     {"Multi-head attention has keys and values for each head. Here four heads of queries share two heads of keys and "
      "values, of width 4 (Ainslie et al. 2023): a decoder then keeps half as much of each token.",
      "多头注意力的每个头都有自己的键和值。这里四个查询头共用两个键值头，每个头宽 4（Ainslie 等，2023）："
      "这样解码器为每个词元只需保存一半的数。"}},
    {"gqa.inputs",
     {"K and V are half as wide as Q", "K 和 V 的宽度只有 Q 的一半"},
     {"A row is a word. W_K and W_V are smaller than W_Q, too.", "每一行对应一个词。W_K 和 W_V 也比 W_Q 小。"}},
    {"gqa.heads",
     {"cut into heads", "切分成多个头"},
     {"Four consecutive columns are a head: four heads of Q, two of K and of V.",
      "每连续四列是一个头：Q 有四个头，K 和 V 各有两个头。"}},
    {"gqa.sharing",
     {"who reads whom", "谁读谁"},
     {"Heads 0 and 1 of the queries read head 0 of keys and values, heads 2 and 3 read head 1.",
      "查询头 0 和 1 读键值头 0，查询头 2 和 3 读键值头 1。"}},
    {"gqa.scaled",
     {"each head of queries against the keys of its group", "每个查询头与本组的键求点积"},
     {"Two heads that share keys still ask differently, since their queries differ.",
      "两个头虽然共用键，查询却不同，所以问的问题也不同。"}},
    {"gqa.weights",
     {"softmax of every row, for each head", "每个头对每一行做 softmax"},
     {"There are as many matrices of weights as heads of queries: nothing is lost here.",
      "有多少个查询头，就有多少个权重矩阵：这里没有任何损失。"}},
    {"gqa.output",
     {"each head mixes the values of its group", "每个头混合本组的值"},
     {"Heads of one group mix the same values, each in its own proportions.",
      "同组的头混合同样的值，但比例各不相同。"}},
    {"gqa.concatenation",
     {"the heads side by side", "把各个头拼接起来"},
     {"As wide as Q, as in multi-head attention.", "与 Q 一样宽，和多头注意力相同。"}},
    {"gqa.cache",
     {"what a decoder keeps of each token", "解码器为每个词元保存多少数"},
     {"Multi-head attention keeps keys and values for all four heads, multi-query attention (Shazeer 2019) for one; "
      "grouped queries lie between.",
      "多头注意力要为四个头都保存键和值，多查询注意力（Shazeer，2019）只保存一个头的，分组查询介于两者之间。"}},
};

}  // namespace

std::span<const WordsEntry> grouped_queries() { return kGroupedQueryWords; }

}  // namespace heed::words
