// The folder that a training run leaves its model in: whether it may, and whether it goes on with a run that is there.
//
//   TrainingFolder folder(paths.folder);          // locked until it goes out of scope
//   if (folder.holds_run()) folder.check_same_run(description);
//   else folder.begin(description);
#pragma once

#include <filesystem>
#include <memory>

#include "heed/base/file_lock.h"
#include "heed/io/json.h"

namespace heed {

// A folder is a training run's own once training/options.json is in it, and holds a run that can be continued once
// there is a saved state: until then (a mistaken option, an early kill) a run starts anew in it.
class TrainingFolder {
 public:
  // Throws heed::Error, before anything is touched, where the folder holds files that a run would overwrite and that no
  // run has made; makes and locks the folder, or throws where another process trains in it.
  explicit TrainingFolder(std::filesystem::path path);

  bool holds_run() const;
  // Throws heed::Error naming the first difference unless the run that is there was begun with this description.
  void check_same_run(const Json& description) const;
  // Makes the folder a run's own.
  void begin(const Json& description) const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path training() const { return path_ / "training"; }
  std::filesystem::path state_file() const { return training() / "state.safetensors"; }

 private:
  std::filesystem::path options_file() const { return training() / "options.json"; }
  void check_free() const;

  std::filesystem::path path_;
  std::unique_ptr<FileLock> lock_;  // two runs in one folder would mix their files
};

}  // namespace heed
