// A folder that is there whole or not at all.
//
//   FolderWriter out("model-int8");
//   write_file(out.path() / "config.json", text); ...   // beside its place, where nobody looks
//   out.commit();                                       // and now it is there
#pragma once

#include <filesystem>

#include "heed/base/descriptor.h"
#include "heed/base/error.h"

namespace heed {

// Collects files in a folder beside the destination and renames it on commit. Without commit it is removed, and what a
// kill leaves of it the next writer to this place removes. Errors are heed::Error that names the path and the reason.
class FolderWriter {
 public:
  // Makes the folder, and those that the destination lies in. Throws heed::Error where there is something at the
  // destination already, where another writer is at work on it, and where what lies beside it was not left by heed.
  explicit FolderWriter(std::filesystem::path destination);
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  // Where files go until they are committed, each flushed to disk by its own writer.
  const std::filesystem::path& path() const { return part_; }
  void commit();

 private:
  struct Nothing {};
  FolderWriter(std::filesystem::path destination, Nothing);
  void remove_left_part() const;

  std::filesystem::path destination_, part_;
  bool made_ = false;
  Descriptor lock_;  // of the folder itself
};

}  // namespace heed
