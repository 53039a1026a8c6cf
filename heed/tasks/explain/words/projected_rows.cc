#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kProjectedRowWords[] = {
    {"attention.rows.self",
     {"a row for each word", "每个词一行"},
     {"X holds the embeddings. Queries, keys and values are all made of it: self-attention.",
      "X 是各个词的嵌入向量。查询、键和值都由它得到：这就是自注意力。"}},
    {"attention.rows.crossed",
     {"a row for each word, here and there", "两边各自每个词一行"},
     {"Queries are made of X, keys and values of the memory M, such as the sentence that is translated: "
      "cross-attention.",
      "查询来自 X，键和值来自记忆 M（例如要翻译的句子）：这就是交叉注意力。"}},
    {"attention.projections",
     {"a query, a key and a value for each row", "每一行得到查询、键和值"},
     {"Three matrices, which training would learn, look at the same rows in three ways.",
      "三个矩阵（训练时要学习的参数）从三个角度看同样的行。"}},
    {"attention.heads",
     {"cut into heads", "切分成多个头"},
     {"Consecutive columns are a head; each attends by itself.", "相邻的若干列是一个头，每个头各自计算注意力。"}},
    {"attention.projection",
     {"through W_O", "再经过 W_O"},
     {"W_O mixes what the heads found; training would learn it, too.",
      "W_O 把各个头找到的内容混合起来，它同样是训练时要学习的参数。"}},
};

}  // namespace

std::span<const WordsEntry> projected_rows() { return kProjectedRowWords; }

}  // namespace heed::words
