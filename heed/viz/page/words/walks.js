// The words of the walks: what `heed explain` says of the same steps, in English and in Chinese. A test holds them to
// it.

export const walkWords = {
  "walk.attention": ["Scaled dot-product attention", "缩放点积注意力"],
  "walk.attention.text": [
    "attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V   (Vaswani et al. 2017, eq. 1)",
    "attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V（Vaswani 等，2017，式 1）",
  ],
  "walk.attention.inputs": ["queries, keys and values", "查询、键和值"],
  "walk.attention.inputs.text": [
    "A query says what is looked for, a key what there is to be found, a value what is handed over. Each is a row.",
    "查询表示要找什么，键表示有什么可以被找到，值则是交出去的内容。它们各占一行。",
  ],
  "walk.attention.scores.dot": ["every query against every key", "每个查询与每个键求点积"],
  "walk.attention.scores.dot.text": [
    "A large dot product means that query and key point the same way: the key fits the query.",
    "点积大，说明查询和键的方向一致：这个键符合这个查询。",
  ],
  "walk.attention.scaled.root": ["kept at one size, however long the vectors are", "缩放，使数值不随向量变长而变大"],
  "walk.attention.scaled.root.text": [
    "A dot product of d_k numbers spreads like sqrt(d_k); undone, softmax stays soft and its gradient alive.",
    "d_k 个数的点积，其波动大小与 sqrt(d_k) 成正比；除掉它，softmax 才不会过于尖锐，梯度也不会消失。",
  ],
  "walk.attention.masked.none": ["there is no mask", "没有掩码"],
  "walk.attention.masked.none.text": [
    "Every query may attend to every key, so nothing changes.",
    "每个查询都可以关注每个键，所以没有变化。",
  ],
  "walk.attention.exponentials": ["the first half of softmax, e to the power of every score", "softmax 的前一半，即对每个得分取指数"],
  "walk.attention.exponentials.text": [
    "Exponentials are positive, and a difference of scores becomes a ratio of weights.",
    "指数总是正数，得分之差变成了权重之比。",
  ],
  "walk.attention.weights.softmax": ["softmax of every row", "对每一行做 softmax"],
  "walk.attention.weights.softmax.text": [
    "How each query divides its attention: the larger a score among those of its row, the larger the weight.",
    "每个查询如何分配它的注意力：在同一行里，得分越大，权重越大。",
  ],
  "walk.attention.weights.ones.text": ["Each row sums to 1.", "每一行的和都是 1。"],
  "walk.attention.output": ["the values, mixed by the weights", "按权重混合各个值"],
  "walk.attention.output.text": [
    "Each output row is made of the values, most of all of those whose keys fit the query.",
    "输出的每一行都由值混合而成，与查询最相符的键，它的值所占比例最大。",
  ],
  "walk.attention.masked.causal": ["the causal mask", "因果掩码"],
  "walk.attention.masked.causal.text": [
    "A query sees the keys up to its own position and none that come later.",
    "查询只能看到自己所在位置及之前的键，看不到后面的键。",
  ],
  "walk.attention.masked.zero.text": ["A score of -inf becomes a weight of 0.", "得分为 -inf，权重就是 0。"],
  "walk.thinking-machines": ["Thinking Machines: self-attention of two words", "Thinking Machines：两个词的自注意力"],
  "walk.thinking-machines.text": [
    "Two words, embeddings of width 4, and queries, keys and values of width 64, in six steps: q, k and v; score; divide; softmax; weigh the values; sum. Then a second head, the heads side by side, and W_O. Each row of W_Q, W_K and W_V repeats its first eight numbers eight times, so that a pencil is enough.",
    "两个词，词嵌入的宽度是 4，查询、键和值的宽度是 64，共六步：求 q、k、v；打分；相除；softmax；给值加权；求和。然后是第二个头、各头拼接和 W_O。W_Q、W_K、W_V 的每一行都把前八个数重复八遍，所以用纸笔就能验算。",
  ],
  "walk.thinking-machines.projections": [
    "a query, a key and a value for each word",
    "每个词得到查询、键和值",
  ],
  "walk.thinking-machines.projections.text": [
    "x_1 is the embedding of \"Thinking\", x_2 that of \"Machines\". Three learned matrices look at the same embedding in three ways: what the word looks for, what it can be found by, and what it has to tell. All numbers here are made up.",
    "x_1 是 \"Thinking\" 的词嵌入，x_2 是 \"Machines\" 的。三个学到的矩阵从三个角度看同一个词嵌入：这个词要找什么、凭什么被找到、有什么可以告诉别人。这里的数都是编出来的。",
  ],
  "walk.thinking-machines.scores": ["score every query against every key", "每个查询给每个键打分"],
  "walk.thinking-machines.scores.text": [
    "The row of a word scores how much each word, itself too, matters to it.",
    "每一行给出各个词（包括它自己）对该行的词有多重要。",
  ],
  "walk.thinking-machines.scaled": ["divide by the square root of the key's width", "除以键宽度的平方根"],
  "walk.thinking-machines.scaled.text": [
    "Longer vectors would have larger dot products; divided, the gradients stay steady.",
    "向量越长，点积越大；相除之后，梯度才稳定。",
  ],
  "walk.thinking-machines.weights": ["softmax of every row", "对每一行做 softmax"],
  "walk.thinking-machines.weights.text": [
    "Each row is positive and sums to 1: how the word divides its attention.",
    "每一行都是正数，和为 1：这就是该词分配注意力的比例。",
  ],
  "walk.thinking-machines.weighted": ["weigh the values", "给值加权"],
  "walk.thinking-machines.weighted.text": [
    "Every value is multiplied by its weight: what matters stays, what does not is nearly drowned out.",
    "每个值乘以它的权重：重要的保留下来，不重要的几乎被淹没。",
  ],
  "walk.thinking-machines.output": ["sum the weighted values", "把加权后的值相加"],
  "walk.thinking-machines.output.text": [
    "z_1 is what \"Thinking\" has become after looking around: mostly the values it attends to.",
    "z_1 就是 \"Thinking\" 看过四周之后的样子：主要由它所关注的值构成。",
  ],
  "walk.thinking-machines.heads": ["a second head, with projections of its own", "第二个头，有自己的投影矩阵"],
  "walk.thinking-machines.heads.text": [
    "Another head can look for something else: in the first each word reads mostly itself, in this one mostly the other.",
    "另一个头可以寻找别的东西：在第一个头里，每个词主要读它自己；在这个头里，主要读另一个词。",
  ],
  "walk.thinking-machines.concatenation": ["the heads side by side", "把各个头拼接起来"],
  "walk.thinking-machines.concatenation.text": ["Each word now has what both heads found.", "现在每个词都有了两个头各自找到的内容。"],
  "walk.thinking-machines.projection": ["back to the width of an embedding", "回到词嵌入的宽度"],
  "walk.thinking-machines.projection.text": [
    "W_O, learned too, mixes the heads; the result is as wide as X, so that the next layer can begin where this one began.",
    "W_O 也是学到的，它把各个头混合起来；结果与 X 一样宽，下一层便可以从同样的形状开始。",
  ],
  "walk.masks": ["Masks: causal, padding, and both", "掩码：因果掩码、填充掩码，以及两者同时使用"],
  "walk.masks.text": [
    "A mask says which keys a query may attend to. Where it refuses, the score becomes -inf, and e^-inf is 0: the key gets no weight, and the others share all of it.",
    "掩码规定一个查询可以关注哪些键。不允许的地方，得分变成 -inf，而 e^-inf 等于 0：这个键得不到权重，全部权重由其余的键分享。",
  ],
  "walk.masks.inputs": ["three words and a place that is filled up", "三个词和一个填充位"],
  "walk.masks.inputs.text": [
    "Sentences of a batch are made equally long with <pad>, which means nothing. K and d_k are chosen so that the scaled scores are Q itself.",
    "同一批次的句子用 <pad> 补成一样长，它没有任何含义。K 和 d_k 是特意选的，使缩放后的得分就等于 Q。",
  ],
  "walk.masks.scaled": ["every query against every key, divided", "每个查询与每个键的点积，再相除"],
  "walk.masks.scaled.text": [
    "So far each word may look at each, later ones and <pad> too.",
    "到这里为止，每个词都能看到所有的词，包括后面的词和 <pad>。",
  ],
  "walk.masks.causal": ["no word sees a later one", "任何词都看不到后面的词"],
  "walk.masks.causal.text": [
    "A decoder writes from left to right: while it learns it must not see the word that it is to guess. The first word has only itself, so its weight is 1.",
    "解码器从左到右写，训练时不能让它看到要猜的词。第一个词只能看到自己，所以权重是 1。",
  ],
  "walk.masks.padding": ["no word sees what fills up", "任何词都看不到填充位"],
  "walk.masks.padding.text": [
    "The column of <pad> is refused for every query. Its own row is still computed, and nobody reads it.",
    "<pad> 那一列对所有查询都不允许。它自己那一行照样计算，只是没有人去读。",
  ],
  "walk.masks.both": ["allowed where both masks allow", "两个掩码都允许的地方才允许"],
  "walk.masks.both.text": ["Masks intersect. What is refused by one is refused.", "多个掩码取交集：只要有一个不允许，就是不允许。"],
  "walk.masks.output": ["the values, mixed by the weights", "按权重混合各个值"],
  "walk.masks.output.text": [
    "The 9s of <pad> are nowhere to be seen: behind a mask a value may be anything.",
    "<pad> 的 9 完全不见了：被掩盖的值是什么都无所谓。",
  ],
  "walk.bahdanau": ["Bahdanau's additive attention", "Bahdanau 加性注意力"],
  "walk.bahdanau.text": [
    "A recurrent decoder in the state s, about to write a word, asks which of the three encoder states h_1, h_2, h_3 it should read (Bahdanau et al. 2015, section 3.1).",
    "循环神经网络的解码器处于状态 s，正要写出下一个词，它要决定该读编码器三个状态 h_1、h_2、h_3 中的哪一个（Bahdanau 等，2015，第 3.1 节）。",
  ],
  "walk.bahdanau.states": ["what there is, and the learned weights", "已有的状态和学到的权重"],
  "walk.bahdanau.states.text": [
    "s is the decoder's state, h_j the encoder's state at source word j. The same small network, of W_a, U_a and v_a, judges every pair of states.",
    "s 是解码器的状态，h_j 是编码器在源句第 j 个词处的状态。由 W_a、U_a 和 v_a 组成的同一个小网络为每一对状态打分。",
  ],
  "walk.bahdanau.projected": ["both kinds of state in one space", "把两种状态投影到同一个空间"],
  "walk.bahdanau.projected.text": [
    "The keys do not depend on s: they are computed once for a whole sentence.",
    "键与 s 无关，整个句子只需计算一次。",
  ],
  "walk.bahdanau.tanh": ["the hidden layer for every source word", "每个源词对应的隐藏层"],
  "walk.bahdanau.tanh.text": [
    "The sum lets query and key speak for the same word, tanh keeps every number between -1 and 1.",
    "相加使查询和键共同评价同一个词，tanh 把每个数限制在 -1 与 1 之间。",
  ],
  "walk.bahdanau.energies": ["one number for every source word", "每个源词得到一个数"],
  "walk.bahdanau.energies.text": [
    "The energy says how well the word around j fits what the decoder is about to write.",
    "能量 e_j 表示第 j 个词附近的内容与解码器将要写的词有多匹配。",
  ],
  "walk.bahdanau.weights": ["softmax of the energies", "对能量做 softmax"],
  "walk.bahdanau.weights.text": [
    "The weights are positive and sum to 1: the row of the alignment picture for this target word.",
    "权重都是正数，总和为 1：这就是对齐图中该目标词对应的一行。",
  ],
  "walk.bahdanau.context": ["the encoder's states, weighted and summed", "编码器状态的加权和"],
  "walk.bahdanau.context.text": [
    "The decoder computes its next state from c: what it reads of the source just now.",
    "c 是上下文向量，即解码器此刻从源句中读到的内容；它据此计算下一个状态。",
  ],
  "walk.luong": ["Luong's attention: dot, general and concat", "Luong 注意力：dot、general 与 concat"],
  "walk.luong.text": [
    "The decoder has reached the state h_t and asks which of the encoder's states h_1, h_2, h_3 matter. Luong et al. 2015, section 3.1, compare three scores; here are all three for the same states.",
    "解码器已到达状态 h_t，要判断编码器的状态 h_1、h_2、h_3 中哪些重要。Luong 等（2015，第 3.1 节）比较了三种得分函数，这里对同一组状态把三种都算一遍。",
  ],
  "walk.luong.states": ["what there is", "已有的状态"],
  "walk.luong.states.text": [
    "h_t is the decoder's state, h_s the encoder's state at source word s. Unlike Bahdanau's, the decoder has already stepped: attention comes after its state.",
    "h_t 是解码器的状态，h_s 是编码器在源句第 s 个词处的状态。与 Bahdanau 不同，解码器已经走完这一步：先有状态，后算注意力。",
  ],
  "walk.luong.dot": ["the states against each other", "两种状态直接求点积"],
  "walk.luong.dot.text": [
    "Nothing is learned here, so both kinds of state must learn to live in one space.",
    "这里没有需要学习的参数，所以两种状态必须学会共处同一个空间。",
  ],
  "walk.luong.general": ["a learned matrix in between", "中间加一个学到的矩阵"],
  "walk.luong.general.text": [
    "W_a learns which part of an encoder state answers to which part of the decoder's.",
    "W_a 学习编码器状态的哪一部分与解码器状态的哪一部分相呼应。",
  ],
  "walk.luong.concat": ["a small network over both states", "用一个小网络同时看两种状态"],
  "walk.luong.concat.text": [
    "With the columns of W_a taken apart this is Bahdanau's score; the numbers are those of the bahdanau example.",
    "把 W_a 按列拆开，就是 Bahdanau 的得分；数值与 bahdanau 例子完全相同。",
  ],
  "walk.luong.weights": ["softmax of each score", "对每种得分做 softmax"],
  "walk.luong.weights.text": [
    "Each row sums to 1; the scores disagree about which source word matters most.",
    "每一行的和都是 1；哪个源词最重要，三种得分的看法并不一致。",
  ],
  "walk.luong.contexts": ["the encoder's states, weighted and summed", "编码器状态的加权和"],
  "walk.luong.contexts.text": ["What the decoder reads of the source at this step.", "解码器在这一步从源句中读到的内容。"],
  "walk.luong.attentional": ["context and state together", "把上下文与状态合在一起"],
  "walk.luong.attentional.text": [
    "The next word is predicted from this vector, so that it rests on both (eq. 5).",
    "下一个词由这个向量预测，因此同时依据上下文和状态（式 5）。",
  ],
  "walk.gqa": ["Grouped-query attention: four heads share two", "分组查询注意力：四个头共用两个头"],
  "walk.gqa.text": [
    "Multi-head attention has keys and values for each head. Here four heads of queries share two heads of keys and values, of width 4 (Ainslie et al. 2023): a decoder then keeps half as much of each token.",
    "多头注意力的每个头都有自己的键和值。这里四个查询头共用两个键值头，每个头宽 4（Ainslie 等，2023）：这样解码器为每个词元只需保存一半的数。",
  ],
  "walk.gqa.inputs": ["K and V are half as wide as Q", "K 和 V 的宽度只有 Q 的一半"],
  "walk.gqa.inputs.text": ["A row is a word. W_K and W_V are smaller than W_Q, too.", "每一行对应一个词。W_K 和 W_V 也比 W_Q 小。"],
  "walk.gqa.heads": ["cut into heads", "切分成多个头"],
  "walk.gqa.heads.text": [
    "Four consecutive columns are a head: four heads of Q, two of K and of V.",
    "每连续四列是一个头：Q 有四个头，K 和 V 各有两个头。",
  ],
  "walk.gqa.sharing": ["who reads whom", "谁读谁"],
  "walk.gqa.sharing.text": [
    "Heads 0 and 1 of the queries read head 0 of keys and values, heads 2 and 3 read head 1.",
    "查询头 0 和 1 读键值头 0，查询头 2 和 3 读键值头 1。",
  ],
  "walk.gqa.scaled": ["each head of queries against the keys of its group", "每个查询头与本组的键求点积"],
  "walk.gqa.scaled.text": [
    "Two heads that share keys still ask differently, since their queries differ.",
    "两个头虽然共用键，查询却不同，所以问的问题也不同。",
  ],
  "walk.gqa.weights": ["softmax of every row, for each head", "每个头对每一行做 softmax"],
  "walk.gqa.weights.text": [
    "There are as many matrices of weights as heads of queries: nothing is lost here.",
    "有多少个查询头，就有多少个权重矩阵：这里没有任何损失。",
  ],
  "walk.gqa.output": ["each head mixes the values of its group", "每个头混合本组的值"],
  "walk.gqa.output.text": [
    "Heads of one group mix the same values, each in its own proportions.",
    "同组的头混合同样的值，但比例各不相同。",
  ],
  "walk.gqa.concatenation": ["the heads side by side", "把各个头拼接起来"],
  "walk.gqa.concatenation.text": ["As wide as Q, as in multi-head attention.", "与 Q 一样宽，和多头注意力相同。"],
  "walk.gqa.cache": ["what a decoder keeps of each token", "解码器为每个词元保存多少数"],
  "walk.gqa.cache.text": [
    "Multi-head attention keeps keys and values for all four heads, multi-query attention (Shazeer 2019) for one; grouped queries lie between.",
    "多头注意力要为四个头都保存键和值，多查询注意力（Shazeer，2019）只保存一个头的，分组查询介于两者之间。",
  ],
  "walk.flash-attention": [
    "FlashAttention's tiles: softmax without a whole row",
    "FlashAttention 的分块：不用整行也能算 softmax",
  ],
  "walk.flash-attention.text": [
    "Softmax needs the largest score and the sum of a row, and so, it seems, all scores at once. FlashAttention (Dao et al. 2022) meets the keys tile after tile and keeps for each query only the running maximum m, the running sum l and an output O that is divided at the end. Here are two queries and six keys in tiles of two.",
    "softmax 需要一整行的最大值与总和，看起来必须同时拥有所有得分。FlashAttention（Dao 等，2022）把键分块处理，每个查询只保存当前最大值 m、累加和 l，以及最后才相除的输出 O。这里有两个查询和六个键，每块两个键。",
  ],
  "walk.flash-attention.inputs": ["two queries, six keys", "两个查询，六个键"],
  "walk.flash-attention.inputs.text": [
    "The scaled scores will be 1, 3, 2, 5, 0, 4 for the first query and 4, 2, 1, 0, 3, 2 for the second; at no time are they all in memory.",
    "缩放后的得分，第一个查询是 1、3、2、5、0、4，第二个查询是 4、2、1、0、3、2；任何时候都不会同时存在内存里。",
  ],
  "walk.flash-attention.tile-1": ["the first two keys", "前两个键"],
  "walk.flash-attention.tile-1.text": [
    "Before the first tile there is nothing: m is -inf, so the factor is e^-inf = 0, and l and O begin at 0.",
    "第一块之前什么都没有：m 是 -inf，所以修正系数是 e^-inf = 0，l 和 O 从 0 开始。",
  ],
  "walk.flash-attention.tile-2": ["a larger score turns up", "出现了更大的得分"],
  "walk.flash-attention.tile-2.text": [
    "For the first query 5 is larger than 3: what was summed so far was measured against 3, and the factor e^(3 - 5) sets it right. For the second query the maximum stays, and the factor is 1.",
    "对第一个查询来说，5 大于 3：此前的累加都是相对于 3 的，乘以修正系数 e^(3 - 5) 就改正过来。第二个查询的最大值不变，系数是 1。",
  ],
  "walk.flash-attention.tile-3": ["the last two keys", "最后两个键"],
  "walk.flash-attention.tile-3.text": [
    "No maximum changes any more, so the tile is only added. No exponential is ever larger than 1: nothing overflows.",
    "最大值都不再变化，这一块直接累加即可。任何指数都不超过 1，因此不会溢出。",
  ],
  "walk.flash-attention.output": ["divided once, at the end", "最后只除一次"],
  "walk.flash-attention.output.text": [
    "The log-sum-exp is all that the backward pass needs to compute any weight again: e^(score - log_sum_exp).",
    "反向传播只需要 log-sum-exp，就能重新算出任何一个权重：e^(得分 - log_sum_exp)。",
  ],
  "walk.flash-attention.whole": ["the same from whole rows", "用整行来算，结果相同"],
  "walk.flash-attention.whole.text": [
    "Softmax over whole rows gives the same output: the tiles change where numbers are kept, not what is computed.",
    "对整行做 softmax 得到同样的输出：分块改变的是数放在哪里，而不是算什么。",
  ],
  "walk.windows": ["Windows and strides: attention to some of the keys", "窗口与步幅：只关注一部分键"],
  "walk.windows.text": [
    "Every query against every key costs the square of the length. Sparse patterns leave most pairs out. Here are twelve positions; a query a row, a key a column, marked (#) where the query may attend to the key.",
    "每个查询都与每个键相比，代价是长度的平方。稀疏模式省去其中大部分。这里有十二个位置：每行一个查询，每列一个键，# 表示该查询可以关注该键。",
  ],
  "walk.windows.full": ["every key", "所有的键"],
  "walk.windows.full.text": ["What an encoder does: 12 * 12 = 144 pairs.", "编码器就是这样：12 * 12 = 144 对。"],
  "walk.windows.causal": ["the key of a query's own place and those before", "自己所在的位置和之前的位置"],
  "walk.windows.causal.text": ["What a decoder does: about half of the pairs.", "解码器就是这样：大约一半的对。"],
  "walk.windows.window": ["a sliding window", "滑动窗口"],
  "walk.windows.window.text": [
    "Three keys for each query, however long the text: the cost grows with the length, not with its square.",
    "无论文本多长，每个查询只看三个键：代价与长度成正比，而不是与长度的平方成正比。",
  ],
  "walk.windows.strided": ["a window and every fourth key before it", "一个窗口，再加上之前每隔四个取一个键"],
  "walk.windows.strided.text": [
    "With a stride near the square root of the length, two layers reach every earlier position (Child et al. 2019).",
    "步幅取长度的平方根左右时，经过两层就能到达之前的每个位置（Child 等，2019）。",
  ],
  "walk.windows.dilated": ["a window with gaps", "带间隔的窗口"],
  "walk.windows.dilated.text": [
    "As many keys as a window of radius 2, over twice the distance. Odd and even places never meet, unless another layer or head has no gaps (Beltagy et al. 2020).",
    "键的个数与半径为 2 的窗口相同，跨度却是两倍。奇数位置与偶数位置永远碰不到一起，除非另一层或另一个头没有间隔（Beltagy 等，2020）。",
  ],
  "walk.windows.global": ["a narrow window and a place that sees all", "一个窄窗口，加上一个纵览全局的位置"],
  "walk.windows.global.text": [
    "Position 0, such as [CLS], reads all and is read by all: news travel anywhere in two layers (Beltagy et al. 2020).",
    "位置 0（例如 [CLS]）能读到所有位置，也被所有位置读到：任何信息经过两层就能传到任何地方（Beltagy 等，2020）。",
  ],
  "walk.windows.cost": ["how many pairs are computed", "要计算多少对"],
  "walk.windows.cost.text": [
    "At 12 positions the difference is small; a window of 3 at 12,000 positions has 0.025 % of the pairs.",
    "只有 12 个位置时差别不大；如果有 12,000 个位置，宽 3 的窗口只需计算 0.025 % 的对。",
  ],
  "walk.windows.reach": ["what two layers see", "两层之后能看到什么"],
  "walk.windows.reach.text": [
    "A second layer reads what the first has read: the window reaches twice as far, the global place reaches everything.",
    "第二层读到的，是第一层已经读过的内容：窗口能到达两倍远，有全局位置的则能到达所有位置。",
  ],
};
