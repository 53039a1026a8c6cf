#include "heed/tasks/metrics_log.h"

#include <string>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"

namespace heed {
namespace {

// Rewrites the log without what comes after `update`; returns its path.
const std::filesystem::path& cut_after(const std::filesystem::path& file, Index update, bool validated) {
  std::string kept;
  if (update > 0 && file_exists(file)) {
    const std::string text = read_file(file);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      if (end == std::string::npos) break;
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      try {
        const Json entry = Json::parse(line, file.string());
        const Index of = entry["update"].integer();
        if (of > update || (of == update && !validated && entry.has("validation_loss"))) break;
      } catch (const Error&) {
        break;  // damaged: what follows cannot be trusted either, and it is only a log
      }
      kept.append(line).push_back('\n');
      begin = end + 1;
    }
  }
  write_file(file, kept);
  return file;
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& file, Index update, bool validated)
    : appender_(cut_after(file, update, validated)) {}

}  // namespace heed
