#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kWindowWords[] = {
    {"windows",
     {"Windows and strides: attention to some of the keys", "窗口与步幅：只关注一部分键"},
     {"Every query against every key costs the square of the length. Sparse patterns leave most pairs out. Here are "
      "twelve positions; a query a row, a key a column, marked (#) where the query may attend to the key.",
      "每个查询都与每个键相比，代价是长度的平方。稀疏模式省去其中大部分。这里有十二个位置：每行一个查询，"
      "每列一个键，# 表示该查询可以关注该键。"}},
    {"windows.full",
     {"every key", "所有的键"},
     {"What an encoder does: 12 * 12 = 144 pairs.", "编码器就是这样：12 * 12 = 144 对。"}},
    {"windows.causal",
     {"the key of a query's own place and those before", "自己所在的位置和之前的位置"},
     {"What a decoder does: about half of the pairs.", "解码器就是这样：大约一半的对。"}},
    {"windows.window",
     {"a sliding window", "滑动窗口"},
     {"Three keys for each query, however long the text: the cost grows with the length, not with its square.",
      "无论文本多长，每个查询只看三个键：代价与长度成正比，而不是与长度的平方成正比。"}},
    {"windows.strided",
     {"a window and every fourth key before it", "一个窗口，再加上之前每隔四个取一个键"},
     {"With a stride near the square root of the length, two layers reach every earlier position (Child et al. 2019).",
      "步幅取长度的平方根左右时，经过两层就能到达之前的每个位置（Child 等，2019）。"}},
    {"windows.dilated",
     {"a window with gaps", "带间隔的窗口"},
     {"As many keys as a window of radius 2, over twice the distance. Odd and even places never meet, unless another "
      "layer or head has no gaps (Beltagy et al. 2020).",
      "键的个数与半径为 2 的窗口相同，跨度却是两倍。奇数位置与偶数位置永远碰不到一起，除非另一层或另一个头没有间隔"
      "（Beltagy 等，2020）。"}},
    {"windows.global",
     {"a narrow window and a place that sees all", "一个窄窗口，加上一个纵览全局的位置"},
     {"Position 0, such as [CLS], reads all and is read by all: news travel anywhere in two layers (Beltagy et al. "
      "2020).",
      "位置 0（例如 [CLS]）能读到所有位置，也被所有位置读到：任何信息经过两层就能传到任何地方（Beltagy 等，2020）。"}},
    {"windows.cost",
     {"how many pairs are computed", "要计算多少对"},
     {"At 12 positions the difference is small; a window of 3 at 12,000 positions has 0.025 % of the pairs.",
      "只有 12 个位置时差别不大；如果有 12,000 个位置，宽 3 的窗口只需计算 0.025 % 的对。"}},
    {"windows.reach",
     {"what two layers see", "两层之后能看到什么"},
     {"A second layer reads what the first has read: the window reaches twice as far, the global place reaches "
      "everything.",
      "第二层读到的，是第一层已经读过的内容：窗口能到达两倍远，有全局位置的则能到达所有位置。"}},
};

}  // namespace

std::span<const WordsEntry> windows() { return kWindowWords; }

}  // namespace heed::words
