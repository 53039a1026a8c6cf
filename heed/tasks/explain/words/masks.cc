#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kMaskWords[] = {
    {"masks",
     {"Masks: causal, padding, and both", "掩码：因果掩码、填充掩码，以及两者同时使用"},
     {"A mask says which keys a query may attend to. Where it refuses, the score becomes -inf, and e^-inf is 0: the "
      "key "
      "gets no weight, and the others share all of it.",
      "掩码规定一个查询可以关注哪些键。不允许的地方，得分变成 -inf，而 e^-inf 等于 0：这个键得不到权重，"
      "全部权重由其余的键分享。"}},
    {"masks.inputs",
     {"three words and a place that is filled up", "三个词和一个填充位"},
     {"Sentences of a batch are made equally long with <pad>, which means nothing. K and d_k are chosen so that the "
      "scaled scores are Q itself.",
      "同一批次的句子用 <pad> 补成一样长，它没有任何含义。K 和 d_k 是特意选的，使缩放后的得分就等于 Q。"}},
    {"masks.scaled",
     {"every query against every key, divided", "每个查询与每个键的点积，再相除"},
     {"So far each word may look at each, later ones and <pad> too.",
      "到这里为止，每个词都能看到所有的词，包括后面的词和 <pad>。"}},
    {"masks.causal",
     {"no word sees a later one", "任何词都看不到后面的词"},
     {"A decoder writes from left to right: while it learns it must not see the word that it is to guess. The first "
      "word "
      "has only itself, so its weight is 1.",
      "解码器从左到右写，训练时不能让它看到要猜的词。第一个词只能看到自己，所以权重是 1。"}},
    {"masks.padding",
     {"no word sees what fills up", "任何词都看不到填充位"},
     {"The column of <pad> is refused for every query. Its own row is still computed, and nobody reads it.",
      "<pad> 那一列对所有查询都不允许。它自己那一行照样计算，只是没有人去读。"}},
    {"masks.both",
     {"allowed where both masks allow", "两个掩码都允许的地方才允许"},
     {"Masks intersect. What is refused by one is refused.", "多个掩码取交集：只要有一个不允许，就是不允许。"}},
    {"masks.output",
     {"the values, mixed by the weights", "按权重混合各个值"},
     {"The 9s of <pad> are nowhere to be seen: behind a mask a value may be anything.",
      "<pad> 的 9 完全不见了：被掩盖的值是什么都无所谓。"}},
};

}  // namespace

std::span<const WordsEntry> masks() { return kMaskWords; }

}  // namespace heed::words
