#include "heed/tasks/metrics_log.h"

#include <string>

#include "heed/base/check.h"
#include "heed/base/file.h"

namespace heed {

MetricsLog::MetricsLog(std::filesystem::path file, Index update) : file_(std::move(file)) {
  std::string kept;
  if (update > 0 && file_exists(file_)) {
    const std::string text = read_file(file_);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      if (end == std::string::npos) break;
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      try {
        if (Json::parse(line, file_.string())["update"].integer() > update) break;
      } catch (const Error&) {
        break;  // damaged: what follows cannot be trusted either, and it is only a log
      }
      kept.append(line).push_back('\n');
      begin = end + 1;
    }
  }
  write_file(file_, kept);
  stream_.open(file_, std::ios::app);
  HEED_CHECK(stream_.good(), "{}: cannot write", file_.string());
}

void MetricsLog::write(const Json& object) {
  stream_ << object.dump() << '\n' << std::flush;
  HEED_CHECK(stream_.good(), "{}: cannot write: is the disk full?", file_.string());
}

}  // namespace heed
