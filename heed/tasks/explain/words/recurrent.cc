#include "heed/tasks/explain/words/tables.h"

namespace heed::words {
namespace {

constexpr WordsEntry kRecurrentWords[] = {
    // Bahdanau's.
    {"bahdanau",
     {"Bahdanau's additive attention", "Bahdanau 加性注意力"},
     {"A recurrent decoder in the state s, about to write a word, asks which of the three encoder states h_1, h_2, h_3 "
      "it should read (Bahdanau et al. 2015, section 3.1).",
      "循环神经网络的解码器处于状态 s，正要写出下一个词，它要决定该读编码器三个状态 h_1、h_2、h_3 "
      "中的哪一个（Bahdanau 等，2015，第 3.1 节）。"}},
    {"bahdanau.states",
     {"what there is, and the learned weights", "已有的状态和学到的权重"},
     {"s is the decoder's state, h_j the encoder's state at source word j. The same small network, of W_a, U_a and "
      "v_a, "
      "judges every pair of states.",
      "s 是解码器的状态，h_j 是编码器在源句第 j 个词处的状态。由 W_a、U_a 和 v_a "
      "组成的同一个小网络为每一对状态打分。"}},
    {"bahdanau.projected",
     {"both kinds of state in one space", "把两种状态投影到同一个空间"},
     {"The keys do not depend on s: they are computed once for a whole sentence.",
      "键与 s 无关，整个句子只需计算一次。"}},
    {"bahdanau.tanh",
     {"the hidden layer for every source word", "每个源词对应的隐藏层"},
     {"The sum lets query and key speak for the same word, tanh keeps every number between -1 and 1.",
      "相加使查询和键共同评价同一个词，tanh 把每个数限制在 -1 与 1 之间。"}},
    {"bahdanau.energies",
     {"one number for every source word", "每个源词得到一个数"},
     {"The energy says how well the word around j fits what the decoder is about to write.",
      "能量 e_j 表示第 j 个词附近的内容与解码器将要写的词有多匹配。"}},
    {"bahdanau.weights",
     {"softmax of the energies", "对能量做 softmax"},
     {"The weights are positive and sum to 1: the row of the alignment picture for this target word.",
      "权重都是正数，总和为 1：这就是对齐图中该目标词对应的一行。"}},
    {"bahdanau.context",
     {"the encoder's states, weighted and summed", "编码器状态的加权和"},
     {"The decoder computes its next state from c: what it reads of the source just now.",
      "c 是上下文向量，即解码器此刻从源句中读到的内容；它据此计算下一个状态。"}},
    // Luong's.
    {"luong",
     {"Luong's attention: dot, general and concat", "Luong 注意力：dot、general 与 concat"},
     {"The decoder has reached the state h_t and asks which of the encoder's states h_1, h_2, h_3 matter. Luong et al. "
      "2015, section 3.1, compare three scores; here are all three for the same states.",
      "解码器已到达状态 h_t，要判断编码器的状态 h_1、h_2、h_3 中哪些重要。Luong 等（2015，第 3.1 "
      "节）比较了三种得分函数，这里对同一组状态把三种都算一遍。"}},
    {"luong.states",
     {"what there is", "已有的状态"},
     {"h_t is the decoder's state, h_s the encoder's state at source word s. Unlike Bahdanau's, the decoder has "
      "already "
      "stepped: attention comes after its state.",
      "h_t 是解码器的状态，h_s 是编码器在源句第 s 个词处的状态。与 Bahdanau "
      "不同，解码器已经走完这一步：先有状态，后算注意力。"}},
    {"luong.dot",
     {"the states against each other", "两种状态直接求点积"},
     {"Nothing is learned here, so both kinds of state must learn to live in one space.",
      "这里没有需要学习的参数，所以两种状态必须学会共处同一个空间。"}},
    {"luong.general",
     {"a learned matrix in between", "中间加一个学到的矩阵"},
     {"W_a learns which part of an encoder state answers to which part of the decoder's.",
      "W_a 学习编码器状态的哪一部分与解码器状态的哪一部分相呼应。"}},
    {"luong.concat",
     {"a small network over both states", "用一个小网络同时看两种状态"},
     {"With the columns of W_a taken apart this is Bahdanau's score; the numbers are those of the bahdanau example.",
      "把 W_a 按列拆开，就是 Bahdanau 的得分；数值与 bahdanau 例子完全相同。"}},
    {"luong.weights",
     {"softmax of each score", "对每种得分做 softmax"},
     {"Each row sums to 1; the scores disagree about which source word matters most.",
      "每一行的和都是 1；哪个源词最重要，三种得分的看法并不一致。"}},
    {"luong.contexts",
     {"the encoder's states, weighted and summed", "编码器状态的加权和"},
     {"What the decoder reads of the source at this step.", "解码器在这一步从源句中读到的内容。"}},
    {"luong.attentional",
     {"context and state together", "把上下文与状态合在一起"},
     {"The next word is predicted from this vector, so that it rests on both (eq. 5).",
      "下一个词由这个向量预测，因此同时依据上下文和状态（式 5）。"}},
};

}  // namespace

std::span<const WordsEntry> recurrent() { return kRecurrentWords; }

}  // namespace heed::words
