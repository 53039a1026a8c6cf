// All words of the page: [English, Chinese] by key. A view's words begin with its id. {name} is filled in.
//
//   translate("map.layer", "zh", { layer: 3 });   // "第 3 层"

import { teaching } from "./words/teaching.js";
import { walkWords } from "./words/walks.js";

export const languages = { en: "English", zh: "中文" };

export const words = {
  ...teaching,
  ...walkWords,

  // The frame
  "page.title": ["Attention", "注意力"],
  "page.views": ["Views", "视图"],
  "page.sentence": ["Sentence", "句子"],
  "page.source": ["Source", "源句"],
  "page.target": ["Translation", "译文"],
  "page.text": ["Text", "文本"],
  "page.language": ["Language", "语言"],
  "page.theme": ["Theme", "主题"],
  "page.theme.auto": ["Auto", "自动"],
  "page.theme.light": ["Light", "浅色"],
  "page.theme.dark": ["Dark", "深色"],
  "page.honesty": [
    "Weights show what a layer read, not why the model answered as it did: they are not by themselves an explanation.",
    "权重显示某一层读取了什么，并不说明模型为何给出这样的结果：权重本身不是解释。",
  ],

  // What one does with a figure
  "tools.save": ["Save", "保存"],
  "tools.save.text": ["What is shown, as a picture or as numbers.", "把当前内容保存为图片或数据。"],
  "tools.address": ["Copy the address of this view", "复制此视图的地址"],
  "tools.address.copied": ["Copied", "已复制"],
  "tools.address.by-hand": ["Please copy it from the address bar", "请从地址栏复制"],
  "tools.note": ["Add a note", "添加注释"],
  "tools.note.hint": ["A note on this view; it goes along in the address and in pictures.", "对此视图的注释，会随地址和图片一起保存。"],
  "tools.note.remove": ["Remove", "删除"],

  // What is shown of a trace
  "kind": ["Attention", "注意力类型"],
  "kind.cross": ["Cross-attention", "交叉注意力"],
  "kind.encoder": ["Encoder self-attention", "编码器自注意力"],
  "kind.decoder": ["Decoder self-attention", "解码器自注意力"],
  "kind.cross.short": ["Cross", "交叉"],
  "kind.encoder.short": ["Encoder", "编码器"],
  "kind.decoder.short": ["Decoder", "解码器"],
  "map.layer": ["Layer", "层"],
  "map.head": ["Head", "头"],
  "map.heads": ["Heads", "头"],
  "map.mean": ["Mean of {heads} heads", "{heads} 个头的平均"],
  "map.all-layers": ["all layers", "所有层"],
  "map.layer-number": ["layer {layer}", "第 {layer} 层"],
  "map.head-number": ["head {head}", "头 {head}"],
  "map.keys": ["keys: what is read", "键：被读取的词元"],
  "map.queries": ["queries: what reads", "查询：读取的词元"],
  "side.source": ["source", "源句"],
  "side.decoder": ["decoder input", "解码器输入"],

  // Combinations
  "combine.title": ["Combine", "组合"],
  "combine.off": ["off", "关"],
  "combine.reset": ["Show as it is", "恢复原样"],
  "combine.layers": ["Layers", "层"],
  "combine.layers.one": ["The chosen one", "所选的一层"],
  "combine.layers.mean": ["Mean over layers", "各层平均"],
  "combine.layers.rollout": ["Rollout", "注意力展开（rollout）"],
  "combine.layers.flow": ["Flow", "注意力流（flow）"],
  "combine.layers.rollout.to": ["rollout to layer {layer}", "展开至第 {layer} 层"],
  "combine.layers.flow.to": ["flow to layer {layer}", "流至第 {layer} 层"],
  "combine.layers.one.text": ["", ""],
  "combine.layers.mean.text": ["The mean of the weights over all layers of this kind.", "该类型所有层的权重平均值。"],
  "combine.layers.rollout.text": [
    "Attention rollout (Abnar and Zuidema 2020): layers multiplied, each half its input and half what it read.",
    "注意力展开（Abnar 与 Zuidema，2020）：各层相乘，每层一半来自输入，一半来自所读取的内容。",
  ],
  "combine.layers.flow.text": [
    "Attention flow (Abnar and Zuidema 2020): the most that can flow to an input through the layers as a network.",
    "注意力流（Abnar 与 Zuidema，2020）：把各层看作网络，求流向每个输入的最大流。",
  ],
  "combine.words": ["Pieces as words", "子词合并为词"],
  "combine.special": ["Hide special tokens", "隐藏特殊词元"],
  "combine.readers": ["Rows of text", "行取自第几段文本"],
  "combine.read": ["Columns of text", "列取自第几段文本"],
  "combine.all-texts": ["all", "全部"],
  "combine.normal": ["Rows sum to one", "每行归一化"],
  "combine.least": ["Smallest weight", "最小权重"],
  "combine.top": ["Largest of a row", "每行保留前几个"],

  // Heads over a word
  "heads.title": ["Heads over a word", "词上的各个头"],
  "heads.text": [
    "A line from a word that reads to a word that is read; the stronger the line, the larger the weight. "
      + "Point at a word to see it alone, click to pin it.",
    "连线从读取的词指向被读取的词，线越浓，权重越大。指向一个词可单独查看，点击可固定。",
  ],
  "heads.label": [
    "Lines between words, {what}. Arrow keys move from word to word, Enter pins, Escape lets go.",
    "词之间的连线，{what}。方向键在词间移动，回车固定，Esc 取消。",
  ],
  "heads.layout": ["Layout", "布局"],
  "heads.layout.columns": ["Columns", "两列"],
  "heads.layout.line": ["One line", "一行"],
  "heads.beside": ["Compare with", "对比"],
  "heads.beside.none": ["nothing", "无"],
  "heads.chip": ["Click: on or off. Double click: this one alone.", "单击：开关；双击：只看这一个。"],
  "heads.all": ["All", "全部"],
  "heads.mean": ["Mean", "平均"],
  "heads.reads": ["reads", "读取"],
  "heads.read-by": ["is read by", "被读取："],
  "heads.mean-of": ["mean of {heads} heads", "{heads} 个头的平均"],
  "heads.hint": ["Point at a word.", "请指向一个词。"],
  "heads.left": [
    "The {drawn} strongest of {all} lines are drawn; point at a word for all of its own.",
    "共 {all} 条连线，只画出最强的 {drawn} 条；指向一个词可查看它的全部连线。",
  ],

  // Matrix
  "matrix.title": ["Matrix", "矩阵"],
  "matrix.text": [
    "A row reads, a column is read; the darker a cell, the larger the weight.",
    "行表示读取的词，列表示被读取的词；颜色越深，权重越大。",
  ],
  "matrix.label": [
    "Matrix of weights, {what}: {rows} rows, {columns} columns. Arrow keys move from cell to cell, plus and minus zoom, zero shows all, Enter pins.",
    "权重矩阵，{what}：{rows} 行，{columns} 列。方向键在单元格间移动，加号和减号缩放，0 显示全部，回车固定。",
  ],
  "matrix.hint": [
    "Point at a cell. Ctrl and wheel, two fingers, or + and − zoom; drag moves.",
    "请指向一个单元格。Ctrl 加滚轮、双指或 + 与 − 可缩放，拖动可移动。",
  ],
  "matrix.none": ["No row and column has this text.", "没有行和列包含这段文字。"],
  "matrix.sort": ["Sort and filter", "排序与筛选"],
  "matrix.rows": ["Rows by", "行按"],
  "matrix.columns": ["Columns by", "列按"],
  "matrix.by.place": ["place", "位置"],
  "matrix.by.largest": ["largest weight", "最大权重"],
  "matrix.by.entropy": ["entropy, the most decided first", "熵，从最集中的开始"],
  "matrix.by.read": ["how much they are read", "被读取的总量"],
  "matrix.by.name": ["name", "名称"],
  "matrix.only.rows": ["Rows with", "行包含"],
  "matrix.only.columns": ["Columns with", "列包含"],
  "matrix.only.any": ["any text", "任意文字"],
  "matrix.closer": ["Zoom in", "放大"],
  "matrix.wider": ["Zoom out", "缩小"],
  "matrix.whole": ["Show all", "显示全部"],
  "matrix.in-words": ["In words: where each token reads most", "用文字表示：每个词元主要读取的内容"],

  // All layers and heads
  "overview.title": ["All layers and heads", "所有层与头"],
  "overview.text": [
    "Each head's matrix, small; below it what it seems to do, its entropy in bits and its mean distance in tokens. Choose one to see it large.",
    "每个头的缩略矩阵；下方是它似乎在做的事、熵（比特）和平均距离（词元）。点击可放大查看。",
  ],
  "overview.hint": ["Point at a head.", "请指向一个头。"],
  "overview.tells": [
    "Layer {layer}, head {head}: {role}; entropy {entropy} bits, mean distance {distance} tokens",
    "第 {layer} 层，头 {head}：{role}；熵 {entropy} 比特，平均距离 {distance} 个词元",
  ],
  "overview.how": [
    "Measured, not guessed: a head is named for where at least {share} of its weight goes, in the mean over the rows that have a choice; "
      + "“even” is a mean entropy of at least {even} of what equal weights have. “Diagonal” is the token as far along the other side, and its two neighbours.",
    "以上为测量结果：在有选择余地的各行上取平均，若至少 {share} 的权重落在某处，就以此命名；“均匀”指平均熵至少为等权重时的 {even}。"
      + "“对角线”指另一侧相同相对位置的词元及其左右邻居。",
  ],
  "overview.roles": ["What heads seem to do", "各头似乎在做什么"],
  "overview.any": ["Any", "全部"],
  "overview.role.itself": ["itself", "自身"],
  "overview.role.previous": ["previous token", "前一个词元"],
  "overview.role.next": ["next token", "后一个词元"],
  "overview.role.first": ["first token", "第一个词元"],
  "overview.role.diagonal": ["diagonal", "对角线"],
  "overview.role.punctuation": ["punctuation", "标点"],
  "overview.role.special": ["special tokens", "特殊词元"],
  "overview.role.even": ["even", "均匀"],
  "overview.role.none": ["mixed", "混合"],

  // Alignment
  "alignment.title": ["Alignment", "对齐"],
  "alignment.text": [
    "Which source word each word of the answer reads most, beside what a person aligned.",
    "译文中每个词主要读取的源词，与人工对齐对照。",
  ],
  "alignment.label": [
    "Alignment of {rows} words to {columns} words. Arrow keys move from cell to cell.",
    "{rows} 个词与 {columns} 个词的对齐。方向键在单元格间移动。",
  ],
  "alignment.gold": ["gold, sure", "人工：确定"],
  "alignment.possible": ["gold, possible", "人工：可能"],
  "alignment.found": ["from the weights", "由权重得到"],
  "alignment.aer": [
    "Alignment error rate {aer} %: {found} links found, {sure} of {allSure} sure ones among them, {right} of them right.",
    "对齐错误率 {aer} %：找到 {found} 个链接，其中命中确定链接 {sure}／{allSure} 个，正确 {right} 个。",
  ],
  "alignment.how": [
    "A word of the answer is aligned with the source word of its largest weight (pieces taken together, special tokens left out), if that is at least the "
      + "threshold. AER is 1 − (|A∩S| + |A∩P|) / (|A| + |S|) of the links A, the sure ones S and the possible ones P ⊇ S (Och and Ney 2003).",
    "译文中的每个词对齐到权重最大的源词（子词合并，不含特殊词元），前提是该权重不低于阈值。AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|)，"
      + "其中 A 为所得链接，S 为确定链接，P ⊇ S 为可能链接（Och 与 Ney，2003）。",
  ],
  "alignment.least": ["Threshold", "阈值"],
  "alignment.hint": ["Point at a cell.", "请指向一个单元格。"],

  // A picture's patches
  "picture.title": ["Over the picture", "叠加在图片上"],
  "picture.text": [
    "How much each patch of the picture is read: bright where the weight is large. Choose a word to see what it reads.",
    "图片的每个图块被读取的程度：越亮权重越大。选择一个词可查看它读取了哪里。",
  ],
  "picture.word": ["Reads", "读取者"],
  "picture.label": [
    "Weights over the picture: {word}. Arrow keys move from patch to patch.",
    "图片上的权重：{word}。方向键在图块间移动。",
  ],
  "picture.patch": ["patch in row {row}, column {column}: {weight}", "第 {row} 行第 {column} 列的图块：{weight}"],
  "picture.hint": ["Point at a patch.", "请指向一个图块。"],
};

// The words of a key, with {name} replaced by values.name; English where a language lacks them.
export function translate(key, language, values = {}) {
  const found = words[key];
  if (!found) throw new Error(`no words for "${key}"`);
  const text = found[Object.keys(languages).indexOf(language)] ?? found[0];
  return text.replace(/\{(\w+)\}/gu, (whole, name) => (name in values ? String(values[name]) : whole));
}
