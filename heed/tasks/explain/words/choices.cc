#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kChoiceWords[] = {
    {"attention.features",
     {"a feature map of queries and keys", "查询与键的特征映射"},
     {"phi makes every number positive or zero, so that products of features can stand in for exponentials: linear "
      "attention.",
      "phi 使每个数都不小于零，这样特征的点积就可以代替指数：这就是线性注意力。"}},
    {"attention.scores.additive",
     {"a small network over every pair", "用一个小网络为每一对打分"},
     {"Query and key are added, tanh bends the sum, and v_a weighs its parts (Bahdanau et al. 2015).",
      "查询与键相加，经过 tanh，再由 v_a 给各个分量加权（Bahdanau 等，2015）。"}},
    {"attention.scores.cosine",
     {"the angle between every query and every key", "每个查询与每个键的夹角"},
     {"From -1 to 1: only the directions count, not the lengths.", "取值在 -1 与 1 之间：只看方向，不看长度。"}},
    {"attention.scores.distance",
     {"how far every query lies from every key", "每个查询与每个键的距离"},
     {"0 is the best score there is: the key equals the query.", "最高得分是 0：此时键与查询相等。"}},
    {"attention.scores.features",
     {"features against features", "特征与特征求点积"},
     {"Products of features are never negative.", "特征的点积不会是负数。"}},
    {"attention.scores.no_exponential",
     {},
     {"No exponential is taken of these scores: their sum is the denominator.",
      "这些得分不再取指数：它们的和就是分母。"}},
    {"attention.capped",
     {"a soft cap", "软上限"},
     {"Small scores hardly change; no score leaves the range from -cap to cap.",
      "小的得分几乎不变，任何得分都不会超出上限的范围。"}},
    {"attention.biased",
     {"a bias is added", "加上偏置"},
     {"ALiBi's: the farther a key, the lower its score; each head has a slope of its own (Press et al. 2022).",
      "ALiBi 的偏置：键离得越远，得分越低；每个头有自己的斜率（Press 等，2022）。"}},
    {"attention.threshold",
     {"the threshold of every row", "每一行的阈值"},
     {"What lies below the threshold will get no weight at all.", "低于阈值的键得不到任何权重。"}},
    {"attention.sums",
     {"the sum of every row", "每一行的和"},
     {"The denominator of the weights.", "它就是权重的分母。"}},
    {"attention.weights.sigmoid",
     {"each weight by itself", "每个权重各自计算"},
     {"A key's weight does not depend on the other keys, so a row need not sum to 1.",
      "一个键的权重与其他键无关，所以一行的和不一定是 1。"}},
    {"attention.weights.sparsemax",
     {"what lies above the threshold", "高出阈值的部分"},
     {"Keys that fit badly get exactly 0.", "不相符的键，权重恰好是 0。"}},
    {"attention.weights.entmax15",
     {"what lies above the threshold, squared", "高出阈值部分的平方"},
     {"Between softmax and sparsemax: 0 for what fits badly, soft for the rest.",
      "介于 softmax 与 sparsemax 之间：不相符的键得 0，其余的仍然平滑。"}},
    {"attention.weights.sum",
     {"every score divided by the sum", "每个得分除以总和"},
     {"How each query divides its attention.", "每个查询如何分配它的注意力。"}},
};

}  // namespace

std::span<const WordsEntry> choices() { return kChoiceWords; }

}  // namespace heed::words
