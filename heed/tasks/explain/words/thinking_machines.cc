#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kThinkingMachineWords[] = {
    {"thinking-machines",
     {"Thinking Machines: self-attention of two words", "Thinking Machines：两个词的自注意力"},
     {"Two words, embeddings of width 4, and queries, keys and values of width 64, in six steps: q, k and v; score; "
      "divide; softmax; weigh the values; sum. Then a second head, the heads side by side, and W_O. Each row of W_Q, "
      "W_K "
      "and W_V repeats its first eight numbers eight times, so that a pencil is enough.",
      "两个词，词嵌入的宽度是 4，查询、键和值的宽度是 64，共六步：求 q、k、v；打分；相除；softmax；给值加权；求和。"
      "然后是第二个头、各头拼接和 W_O。W_Q、W_K、W_V 的每一行都把前八个数重复八遍，所以用纸笔就能验算。"}},
    {"thinking-machines.projections",
     {"a query, a key and a value for each word", "每个词得到查询、键和值"},
     {"x_1 is the embedding of \"Thinking\", x_2 that of \"Machines\". Three learned matrices look at the same "
      "embedding "
      "in three ways: what the word looks for, what it can be found by, and what it has to tell. All numbers here are "
      "made up.",
      "x_1 是 \"Thinking\" 的词嵌入，x_2 是 \"Machines\" 的。三个学到的矩阵从三个角度看同一个词嵌入：这个词要找什么、"
      "凭什么被找到、有什么可以告诉别人。这里的数都是编出来的。"}},
    {"thinking-machines.scores",
     {"score every query against every key", "每个查询给每个键打分"},
     {"The row of a word scores how much each word, itself too, matters to it.",
      "每一行给出各个词（包括它自己）对该行的词有多重要。"}},
    {"thinking-machines.scaled",
     {"divide by the square root of the key's width", "除以键宽度的平方根"},
     {"Longer vectors would have larger dot products; divided, the gradients stay steady.",
      "向量越长，点积越大；相除之后，梯度才稳定。"}},
    {"thinking-machines.weights",
     {"softmax of every row", "对每一行做 softmax"},
     {"Each row is positive and sums to 1: how the word divides its attention.",
      "每一行都是正数，和为 1：这就是该词分配注意力的比例。"}},
    {"thinking-machines.weighted",
     {"weigh the values", "给值加权"},
     {"Every value is multiplied by its weight: what matters stays, what does not is nearly drowned out.",
      "每个值乘以它的权重：重要的保留下来，不重要的几乎被淹没。"}},
    {"thinking-machines.output",
     {"sum the weighted values", "把加权后的值相加"},
     {"z_1 is what \"Thinking\" has become after looking around: mostly the values it attends to.",
      "z_1 就是 \"Thinking\" 看过四周之后的样子：主要由它所关注的值构成。"}},
    {"thinking-machines.heads",
     {"a second head, with projections of its own", "第二个头，有自己的投影矩阵"},
     {"Another head can look for something else: in the first each word reads mostly itself, in this one mostly the "
      "other.",
      "另一个头可以寻找别的东西：在第一个头里，每个词主要读它自己；在这个头里，主要读另一个词。"}},
    {"thinking-machines.concatenation",
     {"the heads side by side", "把各个头拼接起来"},
     {"Each word now has what both heads found.", "现在每个词都有了两个头各自找到的内容。"}},
    {"thinking-machines.projection",
     {"back to the width of an embedding", "回到词嵌入的宽度"},
     {"W_O, learned too, mixes the heads; the result is as wide as X, so that the next layer can begin where this one "
      "began.",
      "W_O 也是学到的，它把各个头混合起来；结果与 X 一样宽，下一层便可以从同样的形状开始。"}},
};

}  // namespace

std::span<const WordsEntry> thinking_machines() { return kThinkingMachineWords; }

}  // namespace heed::words
