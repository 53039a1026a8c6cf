#include "views.h"

#include <fmt/core.h>

#include <filesystem>
#include <span>

#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "long_lines.h"
#include "option_names.h"
#include "output.h"

namespace heed::cli {
namespace {

// The folder's own name: where it lies is nobody's business who gets the picture.
std::string folder_name(const std::string& folder) {
  const std::filesystem::path path = (std::filesystem::absolute(folder) / "").lexically_normal();
  return path.parent_path().filename().string();
}

struct Lines {
  std::vector<std::string> lines;
  std::string name;  // for messages
};

Lines read_lines(const ViewedText& viewed) {
  if (viewed.text) return {split_text_lines(*viewed.text, "--text"), "--text"};
  return {read_text_lines(viewed.input), text_name(viewed.input)};
}

// The views, if there are any, and a warning of lines that were too long.
Views checked(Views views, const Lines& read, LongLines treatment, std::span<const Index> too_long) {
  HEED_CHECK(!views.traces.empty(), "{}: {}there is no sentence to look at", read.name,
             read.lines.empty() ? "is empty: " : "");
  LongLineWarning warning(read.name, treatment);
  warning.add(too_long);
  warning.print();
  return views;
}

AttentionTrace trace_of(const ViewedText& viewed, const ModelFolder& folder, const std::string& source,
                        std::span<const int> target_ids) {
  return trace_pair(folder, source, target_ids, viewed.long_lines == LongLines::crop);
}

Views view_translations(const ViewedText& viewed, const ModelFolder& folder) {
  const Lines read = read_lines(viewed);
  Translator translator(folder, viewed.long_lines);
  const auto translations = translator.translate(read.lines, viewed.beam, read.name);
  Views views;
  for (std::size_t i = 0; i < read.lines.size(); ++i) {
    const Translation& best = translations[i].front();
    views.translations.push_back(best.text);
    const bool was_read = !best.token_scores.empty();
    if (was_read) views.traces.push_back(trace_of(viewed, folder, read.lines[i], best.tokens));
  }
  return checked(std::move(views), read, viewed.long_lines, translator.long_lines());
}

std::string read_one_line(const char* option, const std::string& text) {
  const std::vector<std::string> lines = split_text_lines(text, option);
  HEED_CHECK(lines.size() <= 1, "{}: must be one line where --target is given, but has {}", option, lines.size());
  return lines.empty() ? "" : lines.front();
}

Views view_given_pair(const ViewedText& viewed, const ModelFolder& folder) {
  const std::string source = read_one_line("--text", *viewed.text), target = read_one_line("--target", *viewed.target);
  const AttentionTrace trace = trace_of(viewed, folder, source, folder.target_ids(target));
  return {{trace}, {trace.target.text}};
}

// What a language model attends to while it reads the lines.
Views view_texts(const ViewedText& viewed, const ModelFolder& folder) {
  const Lines read = read_lines(viewed);
  Views views;
  std::vector<Index> too_long;
  for (std::size_t i = 0; i < read.lines.size(); ++i) {
    const std::vector<int> ids = folder.target_ids(read.lines[i]);
    const bool is_long = std::ssize(ids) >= folder.model->max_length();
    if (is_long) too_long.push_back(static_cast<Index>(i) + 1);
    if (ids.empty() || (is_long && viewed.long_lines == LongLines::empty)) continue;
    views.traces.push_back(
        trace_text(folder, ids, viewed.long_lines == LongLines::crop, fmt::format("{}:{}", read.name, i + 1)));
  }
  return checked(std::move(views), read, viewed.long_lines, too_long);
}

Views views_of(const ViewedText& viewed, const ModelFolder& folder, const CLI::App& sub) {
  if (folder.model->has_source()) {
    return viewed.target ? view_given_pair(viewed, folder) : view_translations(viewed, folder);
  }
  for (const char* option : {"--target", "--beam"}) {
    if (was_given(sub, option)) throw CLI::ValidationError(option, "means nothing to a language model");
  }
  return view_texts(viewed, folder);
}

}  // namespace

Views make_views(const ViewedText& viewed, const CLI::App& sub) {
  Views views = views_of(viewed, load_model_folder(viewed.model), sub);
  for (AttentionTrace& trace : views.traces) trace.model = folder_name(viewed.model);
  return views;
}

}  // namespace heed::cli
