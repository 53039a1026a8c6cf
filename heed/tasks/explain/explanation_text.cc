#include "heed/tasks/explain/explanation_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "heed/tasks/explain/matrix_text.h"

namespace heed {
namespace {

constexpr std::size_t kPageWidth = 100, kIndent = 3, kGap = 5;

// Breaks a paragraph between words.
void append_wrapped(std::string_view paragraph, std::size_t indent, std::string& text) {
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) text += std::string(indent, ' ') + line + '\n';
    line.clear();
  };
  while (!paragraph.empty()) {
    const std::size_t space = std::min(paragraph.find(' '), paragraph.size());
    const std::string_view word = paragraph.substr(0, space);
    if (!line.empty() && indent + line.size() + 1 + word.size() > kPageWidth) flush();
    if (!line.empty()) line += ' ';
    line += word;
    paragraph.remove_prefix(std::min(space + 1, paragraph.size()));
  }
  flush();
}

// The lines of matrices that stand side by side.
class Band {
 public:
  // Adds the block where the page has room for it, or where the band is empty.
  bool add(const std::vector<std::string>& block) {
    std::size_t width = 0;
    for (const std::string& line : block) width = std::max(width, line.size());
    if (width_ > 0 && kIndent + width_ + kGap + width > kPageWidth) return false;
    const std::size_t start = width_ > 0 ? width_ + kGap : 0;
    if (lines_.size() < block.size()) lines_.resize(block.size());
    for (std::size_t i = 0; i < block.size(); ++i) {
      lines_[i].resize(start, ' ');
      lines_[i] += block[i];
    }
    width_ = start + width;
    return true;
  }

  void append_to(std::string& text) const {
    for (const std::string& line : lines_) text += std::string(kIndent, ' ') + line + '\n';
    if (!lines_.empty()) text += '\n';
  }

 private:
  std::vector<std::string> lines_;
  std::size_t width_ = 0;
};

void append_matrices(const ExplanationStep& step, int digits, std::string& text) {
  Band band;
  for (const LabelledMatrix& matrix : step.matrices) {
    const std::vector<std::string> block = matrix_lines(matrix, {.digits = digits, .most_width = kPageWidth - kIndent});
    if (band.add(block)) continue;
    band.append_to(text);
    band = Band();
    band.add(block);
  }
  band.append_to(text);
}

}  // namespace

std::string to_text(const Explanation& explanation, int digits) {
  std::string text = explanation.title + '\n' + std::string(explanation.title.size(), '=') + '\n';
  append_wrapped(explanation.introduction, 0, text);
  int number = 0;
  for (const ExplanationStep& step : explanation.steps) {
    text += fmt::format("\n{}. {}: {}\n", ++number, step.name, step.title);
    append_wrapped(step.formula, kIndent, text);
    text += '\n';
    append_matrices(step, digits, text);
    append_wrapped(step.meaning, kIndent, text);
  }
  return text;
}

}  // namespace heed
