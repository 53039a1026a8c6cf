#include "tokenizers.h"
#include "token_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/io/json.h"
#include "heed/text/open_tokenizer.h"

namespace heed::conformance {
namespace {

constexpr std::size_t kShown = 200;  // bytes of a text in a message

template <typename T>
std::string listed(const std::vector<T>& values, std::size_t from) {
  const std::size_t begin = from > 3 ? from - 3 : 0, end = std::min(values.size(), from + 8);
  return fmt::format("{}[{}]{}", begin > 0 ? "..." : "",
                     fmt::join(values.begin() + static_cast<std::ptrdiff_t>(begin),
                               values.begin() + static_cast<std::ptrdiff_t>(end), ", "),
                     end < values.size() ? "..." : "");
}

// What differs; empty where nothing does.
template <typename T>
std::string difference(std::string_view what, const std::vector<T>& got, const std::vector<T>& expected) {
  if (got == expected) return "";
  const auto [one, other] = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
  const auto at = static_cast<std::size_t>(one - got.begin());
  return fmt::format("{} of {}, expected {}, differ at {}: got {}, expected {}", what, got.size(), expected.size(), at,
                     listed(got, at), listed(expected, at));
}

std::string run_case(const Vocabulary& vocabulary, const Json& item) {
  const std::string& text = item["text"].string();
  const std::vector<int> ids = vocabulary.encode(text);
  HEED_CHECK(item.has("ids") || item.has("ids_special") || item.has("pieces") || item.has("decoded"),
             "{}: states nothing of its text", item.where());
  std::string wrong;
  if (item.has("ids")) wrong = difference("ids", ids, token_ids(item["ids"]));
  if (wrong.empty() && item.has("ids_special")) {
    const EncodedText around =
        item.has("pair") ? vocabulary.encode_special(text, item["pair"].string()) : vocabulary.encode_special(text);
    wrong = difference("ids_special", around.ids, token_ids(item["ids_special"]));
    for (const char* types : {"types", "type_ids", "token_type_ids"}) {
      if (wrong.empty() && item.has(types)) wrong = difference(types, around.types, token_ids(item[types]));
    }
  }
  if (wrong.empty() && item.has("pieces")) {
    std::vector<std::string> pieces;
    for (const int id : ids) pieces.push_back(vocabulary.piece(id));
    wrong = difference("pieces", pieces, item["pieces"].string_list());
  }
  if (wrong.empty() && item.has("decoded")) {
    const std::string decoded = vocabulary.decode(ids, Specials::keep);
    if (decoded != item["decoded"].string()) {
      wrong = fmt::format("decoded: got \"{}\", expected \"{}\"", printable(decoded, kShown),
                          printable(item["decoded"].string(), kShown));
    }
  }
  return wrong;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  HEED_CHECK(!lines.empty(), "{}: has no line", file.string());
  return lines;
}

void run_folder(const std::filesystem::path& folder, const std::string& name, Report& report) {
  const std::filesystem::path file = folder / "cases.jsonl";
  std::vector<std::string> lines;
  std::unique_ptr<const Vocabulary> vocabulary;
  std::string refusal;
  try {
    lines = lines_of(file);
    vocabulary = open_tokenizer(folder);
  } catch (const Error& error) {
    refusal = error.what();
  }
  if (lines.empty()) report.add(name, [&] { return refusal; });
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string place = fmt::format("{}:{}", file.string(), i + 1);
    report.add(fmt::format("{}:{}", name, i + 1),
               [&] { return vocabulary ? run_case(*vocabulary, Json::parse(lines[i], place)) : refusal; });
  }
}

}  // namespace

void run_tokenizer_cases(const std::filesystem::path& folder, Report& report) {
  namespace fs = std::filesystem;
  std::error_code error;
  HEED_CHECK(fs::is_directory(folder, error), "{}: is not a folder", folder.string());
  std::vector<fs::path> folders;
  for (auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->path().filename() == "cases.jsonl") folders.push_back(entry->path().parent_path());
  }
  std::ranges::sort(folders);
  for (const fs::path& one : folders) {
    const fs::path relative = one.lexically_relative(folder);
    run_folder(one, relative == "." ? one.filename().string() : relative.string(), report);
  }
}

}  // namespace heed::conformance
