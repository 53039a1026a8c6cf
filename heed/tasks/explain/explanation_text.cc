#include "heed/tasks/explain/explanation_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "heed/tasks/explain/matrix_text.h"
#include "heed/unicode/text_width.h"

namespace heed {
namespace {

constexpr Index kPageWidth = 100, kIndent = 3, kGap = 5;

std::string spaces(Index count) { return std::string(static_cast<std::size_t>(count), ' '); }

void append_wrapped(std::string_view paragraph, Index indent, std::string& text) {
  for (const std::string& line : wrap_text(paragraph, kPageWidth - indent)) text += spaces(indent) + line + '\n';
}

// A formula on one line, or where it has no room there each of its parts, which three spaces keep apart, on its own.
void append_formula(std::string_view formula, std::string& text) {
  if (text_columns(formula) <= kPageWidth - kIndent) return append_wrapped(formula, kIndent, text);
  constexpr std::string_view kApart = "   ";
  while (!formula.empty()) {
    const std::size_t end = std::min(formula.find(kApart), formula.size());
    append_wrapped(formula.substr(0, end), kIndent, text);
    formula.remove_prefix(std::min(end + kApart.size(), formula.size()));
  }
}

// The lines of matrices that stand side by side.
class Band {
 public:
  // Adds the block where the page has room for it, or where the band is empty.
  bool add(const std::vector<std::string>& block) {
    Index width = 0;
    for (const std::string& line : block) width = std::max(width, text_columns(line));
    if (width_ > 0 && kIndent + width_ + kGap + width > kPageWidth) return false;
    const Index start = width_ > 0 ? width_ + kGap : 0;
    if (lines_.size() < block.size()) lines_.resize(block.size());
    for (std::size_t i = 0; i < block.size(); ++i) {
      lines_[i] += spaces(start - text_columns(lines_[i])) + block[i];
    }
    width_ = start + width;
    return true;
  }

  void append_to(std::string& text) const {
    for (const std::string& line : lines_) text += spaces(kIndent) + line + '\n';
    if (!lines_.empty()) text += '\n';
  }

 private:
  std::vector<std::string> lines_;
  Index width_ = 0;
};

void append_matrices(const ExplanationStep& step, const MatrixTextOptions& options, std::string& text) {
  Band band;
  for (const LabelledMatrix& matrix : step.matrices) {
    const std::vector<std::string> block = matrix_lines(matrix, options);
    if (band.add(block)) continue;
    band.append_to(text);
    band = Band();
    band.add(block);
  }
  band.append_to(text);
}

}  // namespace

std::string to_text(const Explanation& explanation, int digits) {
  const MatrixTextOptions options{
      .digits = digits, .most_width = kPageWidth - kIndent, .language = explanation.language};
  const std::string colon = Words(explanation.language).text("step.colon");
  const auto underline = static_cast<std::size_t>(text_columns(explanation.title));
  std::string text = explanation.title + '\n' + std::string(underline, '=') + '\n';
  append_wrapped(explanation.introduction, 0, text);
  int number = 0;
  for (const ExplanationStep& step : explanation.steps) {
    text += fmt::format("\n{}. {}{}{}\n", ++number, step.name, colon, step.title);
    append_formula(step.formula, text);
    text += '\n';
    append_matrices(step, options, text);
    append_wrapped(step.meaning, kIndent, text);
  }
  return text;
}

}  // namespace heed
