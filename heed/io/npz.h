// Archives of arrays in numpy's .npz form: a zip file with an .npy file for each. This is the one door to libzip.
//
//   NpzWriter writer;
//   writer.add("weights", view);
//   writer.add_text("about.json", text);
//   writer.save("maps.npz");
//
//   const NpzReader reader("maps.npz");
//   NpyArray weights = reader.array("weights");         // numpy's own, from savez and savez_compressed, too
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/npy.h"

namespace heed {

class MappedFile;

// Entries may be stored or deflated. What is unpacked is bounded: an entry says how large it is, no smaller file can
// hold that (deflate packs by at most 1032), and all that is read off one reader stays below sixteen times the file or
// 256 MiB, whatever is more. Throws heed::Error that names the archive, and the entry, for what is no such archive,
// for two entries of one name, for other packing or encryption, for a checksum that is wrong, and past those bounds.
class NpzReader {
 public:
  explicit NpzReader(const std::filesystem::path& path);
  // The same of bytes in memory; `name` stands for the file in errors.
  NpzReader(std::string bytes, std::string name);
  NpzReader(NpzReader&&) noexcept;
  ~NpzReader();

  const std::string& name() const;
  // Of all entries, with their endings, sorted.
  std::vector<std::string> entries() const;
  // The array of the entry "<name>.npy". Throws heed::Error also where there is none, and as parse_npy_array does.
  NpyArray array(std::string_view name) const;
  // The bytes of an entry.
  std::string text(std::string_view entry) const;

 private:
  struct Archive;
  explicit NpzReader(std::shared_ptr<const MappedFile> file);

  std::unique_ptr<Archive> archive_;
};

// The same entries in the same order give the same bytes, whenever and wherever they are written. Arrays are stored as
// they are.
class NpzWriter {
 public:
  NpzWriter();
  NpzWriter(NpzWriter&&) noexcept;
  ~NpzWriter();

  // Throws heed::Error for a name that is there already, and as write_npy does.
  void add(const std::string& name, const ConstView& array);
  void add_text(const std::string& entry, std::string text);
  // The archive. Nothing may be added afterwards. Throws heed::Error for one without entries.
  std::string bytes();
  // Replaces the file by it, whole or not at all.
  void save(const std::filesystem::path& path);

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

}  // namespace heed
