#include "heed/tasks/read_texts.h"

#include <algorithm>
#include <numeric>

#include "heed/base/check.h"
#include "heed/tasks/purpose.h"

namespace heed {
namespace {

const Transformer& transformer_of(const ModelFolder& folder) {
  const auto* model = dynamic_cast<const Transformer*>(folder.model.get());
  check_purpose(model != nullptr, folder, "gives no vectors of whole texts");
  return *model;
}

// The first tokens of a text, and what its template puts behind it, `most` in all. `around`: the template alone.
void cut_text(const EncodedText& around, Index most, EncodedText& text) {
  const Index added = std::ssize(around.ids);
  Index before = 0;
  while (before < added && around.ids[static_cast<std::size_t>(before)] == text.ids[static_cast<std::size_t>(before)])
    ++before;
  const Index behind = added - before, gone = std::ssize(text.ids) - most;
  for (std::vector<int>* of : {&text.ids, &text.types}) of->erase(of->end() - behind - gone, of->end() - behind);
}

// Ids or types of some texts, i32 [rows, longest], with zeros behind them.
Tensor padded(std::span<const EncodedText> texts, std::span<const Index> chosen, Index longest,
              std::vector<int> EncodedText::*member) {
  const Tensor rows = Tensor::zeros(DType::i32, {std::ssize(chosen), longest});
  std::int32_t* row = rows.data<std::int32_t>();
  for (const Index text : chosen) {
    std::ranges::copy(texts[static_cast<std::size_t>(text)].*member, row);
    row += longest;
  }
  return rows;
}

// Each row behind the token, without its last one.
Tensor shifted(const Tensor& ids, std::int32_t begin) {
  const Index rows = ids.dim(0), length = ids.dim(1);
  const Tensor behind = Tensor::empty(DType::i32, {rows, length});
  for (Index row = 0; row < rows; ++row) {
    const std::int32_t* const from = ids.data<std::int32_t>() + row * length;
    std::int32_t* const to = behind.data<std::int32_t>() + row * length;
    to[0] = begin;
    std::copy_n(from, length - 1, to + 1);
  }
  return behind;
}

}  // namespace

TextReader::TextReader(const ModelFolder& folder, ReadBy by)
    : folder_(folder),
      model_(transformer_of(folder)),
      vocabulary_(model_.has_source() ? *folder.source_vocabulary : *folder.target_vocabulary),
      by_(by) {
  const bool begins = by == ReadBy::encoder || !model_.has_source() || folder.special.begin >= 0;
  HEED_CHECK(begins, "{}: its decoder begins with no token, so it cannot read the text again", folder.name());
}

EncodedText TextReader::ids_of(const std::string& line) const {
  const std::size_t tab = line.find('\t');
  const std::string_view text = line;
  EncodedText read = tab == std::string::npos ? vocabulary_.encode_special(text)
                                              : vocabulary_.encode_special(text.substr(0, tab), text.substr(tab + 1));
  if (folder_.templated) return read;
  read.types.resize(read.ids.size());
  if (model_.has_source()) {
    read.ids.push_back(folder_.source_symbols.end);
    read.types.push_back(read.types.empty() ? 0 : read.types.back());
  } else {
    read.ids.insert(read.ids.begin(), folder_.target_symbols.begin);
    read.types.insert(read.types.begin(), 0);
  }
  return read;
}

std::vector<EncodedText> TextReader::encode(std::span<const std::string> lines, std::string_view name,
                                            const TextLimit& limit) const {
  const Index held = model_.max_length(), most = std::min(limit.most.value_or(held), held);
  std::vector<EncodedText> texts;
  for (const std::string& line : lines) {
    const std::size_t number = texts.size() + 1;
    HEED_CHECK(std::ranges::count(line, '\t') <= 1, "{}:{}: has several tabs, but one parts two texts", name, number);
    texts.push_back(ids_of(line));
    const Index tokens = std::ssize(texts.back().ids);
    HEED_CHECK(tokens > 0, "{}:{}: has no tokens", name, number);
    if (tokens <= most) continue;
    const EncodedText around = ids_of("");
    const bool may_be_cut = limit.cut && std::ssize(around.ids) < most && line.find('\t') == std::string::npos;
    HEED_CHECK(may_be_cut, "{}:{}: has {} tokens, and {} {}", name, number, tokens,
               most < held ? "its folder says at most" : "the model can hold", most);
    cut_text(around, most, texts.back());
  }
  return texts;
}

EmbeddedSide TextReader::side() const {
  return model_.has_source() && by_ == ReadBy::encoder ? EmbeddedSide::source : EmbeddedSide::decoder;
}

Index TextReader::layers() const {
  return side() == EmbeddedSide::source ? model_.config().encoder_layers : model_.config().decoder_layers;
}

Var TextReader::hidden(const Context& context, const TokenBatch& tokens, const Tensor& types) const {
  if (side() == EmbeddedSide::source) return model_.encode(context, tokens, types);
  if (!model_.has_source()) return model_.features(context, {.input = tokens.ids});
  return model_.features(context, {.source = tokens, .input = shifted(tokens.ids, folder_.special.begin)});
}

void TextReader::read(std::span<const EncodedText> texts, Index batch_tokens,
                      const std::function<void(const ReadBatch&)>& use, const Progress& progress,
                      AttentionObserver* observer) const {
  const auto length = [&](Index text) { return std::ssize(texts[static_cast<std::size_t>(text)].ids); };
  std::vector<Index> by_length(texts.size());
  std::iota(by_length.begin(), by_length.end(), Index{0});
  std::ranges::stable_sort(by_length, {}, length);
  Workspace workspace;
  const Context context = Context::inference(workspace, observer);
  // Longest first, so that each batch is as wide as the first of it.
  while (!by_length.empty()) {
    const Index longest = length(by_length.back());
    const Index rows = std::clamp(batch_tokens / longest, Index{1}, std::ssize(by_length));
    std::vector<Index> chosen(by_length.end() - rows, by_length.end());
    by_length.resize(by_length.size() - static_cast<std::size_t>(rows));
    std::vector<std::int32_t> lengths;
    for (const Index text : chosen) lengths.push_back(static_cast<std::int32_t>(length(text)));
    const TokenBatch tokens{padded(texts, chosen, longest, &EncodedText::ids), Tensor::from(lengths, {rows})};
    Tensor types;
    // A model of one type has no vectors for what a template calls the second.
    if (model_.config().token_types > 1) types = padded(texts, chosen, longest, &EncodedText::types);
    const Var vectors = hidden(context, tokens, types);
    use({context, std::move(chosen), tokens, vectors});
    if (progress) progress(std::ssize(texts) - std::ssize(by_length));
  }
}

}  // namespace heed
