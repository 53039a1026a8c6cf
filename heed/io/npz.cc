#include "heed/io/npz.h"

#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file_writer.h"
#include "heed/base/printable.h"
#include "heed/io/mapped_file.h"

namespace heed {

// Not unnamed, as the archives, which have members of it, are not.
struct DiscardZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Zip = std::unique_ptr<zip_t, DiscardZip>;
using Source = std::unique_ptr<zip_source_t, DiscardZip>;

namespace {

constexpr std::uint64_t kMostPacked = 1032;                       // of deflate
constexpr std::uint64_t kLeastBudget = std::uint64_t{256} << 20;  // bytes that any archive may unpack to
constexpr std::uint64_t kBudgetOfAByte = 16;                      // of a larger archive
constexpr zip_uint16_t kDosTime = 0, kDosDate = 1 << 5 | 1;       // 1980-01-01: archives do not tell when
constexpr std::uint64_t kMostEntries = 1 << 20;

// A zip_error_t that frees itself.
struct ZipError {
  zip_error_t error{};
  ZipError() { zip_error_init(&error); }
  ~ZipError() { zip_error_fini(&error); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  std::string text() { return printable(zip_error_strerror(&error)); }
};

Source source_of(std::string_view bytes, const std::string& name) {
  ZipError error;
  Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error.error));
  HEED_CHECK(source != nullptr, "{}: {}", name, error.text());
  return source;
}

}  // namespace

// --- Reading ---------------------------------------------------------------------------------------------------------

struct NpzReader::Archive {
  struct Entry {
    zip_uint64_t index = 0, bytes = 0;
  };

  std::shared_ptr<const MappedFile> file;
  Zip zip;
  std::map<std::string, Entry, std::less<>> entries;
  std::uint64_t budget = 0;

  explicit Archive(std::shared_ptr<const MappedFile> mapped) : file(std::move(mapped)) {
    const std::string_view bytes = file->bytes();
    HEED_CHECK(!bytes.empty(), "{}: is no .npz archive: it is empty", file->name());
    budget = std::max(kLeastBudget, kBudgetOfAByte * bytes.size());
    Source source = source_of(bytes, file->name());
    ZipError error;
    zip.reset(zip_open_from_source(source.get(), ZIP_RDONLY | ZIP_CHECKCONS, &error.error));
    HEED_CHECK(zip != nullptr, "{}: is no .npz archive: {}", file->name(), error.text());
    static_cast<void>(source.release());  // the archive's now
    const auto count = static_cast<std::uint64_t>(std::max<zip_int64_t>(0, zip_get_num_entries(zip.get(), 0)));
    HEED_CHECK(count <= kMostEntries, "{}: must have at most {} entries, but has {}", file->name(), kMostEntries,
               count);
    for (zip_uint64_t i = 0; i < count; ++i) add_entry(i);
  }

  void add_entry(zip_uint64_t index) {
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_t stat;
    zip_stat_init(&stat);
    const bool known = zip_stat_index(zip.get(), index, 0, &stat) == 0 && (stat.valid & kNeeded) == kNeeded;
    HEED_CHECK(known, "{}: entry {} has no name or no size", file->name(), index);
    const std::string name = stat.name;
    const auto refuse_unless = [&](bool holds, const std::string& rule) {
      HEED_CHECK(holds, "{}: {}: {}", file->name(), printable(name), rule);
    };
    const bool plain = (stat.valid & ZIP_STAT_ENCRYPTION_METHOD) == 0 || stat.encryption_method == ZIP_EM_NONE;
    refuse_unless(plain && (stat.comp_method == ZIP_CM_STORE || stat.comp_method == ZIP_CM_DEFLATE),
                  "must be stored or deflated, and not encrypted");
    refuse_unless(stat.comp_size <= file->bytes().size() && stat.size / kMostPacked <= stat.comp_size,
                  fmt::format("cannot be {} bytes of {} packed ones", stat.size, stat.comp_size));
    refuse_unless(entries.emplace(name, Entry{index, stat.size}).second, "two entries have this name");
  }

  std::string read(std::string_view name) {
    const auto found = entries.find(name);
    HEED_CHECK(found != entries.end(), "{}: has no entry {}", file->name(), printable(name));
    const auto [index, size] = found->second;
    HEED_CHECK(size <= budget, "{}: {}: {} bytes are more than an archive of {} may unpack to", file->name(),
               printable(name), size, file->bytes().size());
    budget -= size;
    file->check_unchanged();
    const std::unique_ptr<zip_file_t, DiscardZip> opened(zip_fopen_index(zip.get(), index, 0));
    HEED_CHECK(opened != nullptr, "{}: {}: {}", file->name(), printable(name), printable(zip_strerror(zip.get())));
    std::string bytes(size + 1, '\0');  // one more, so that the end is met and the checksum compared
    std::uint64_t filled = 0;
    for (zip_int64_t got = 1; got > 0 && filled < bytes.size(); filled += static_cast<std::uint64_t>(got)) {
      got = zip_fread(opened.get(), bytes.data() + filled, bytes.size() - filled);
      HEED_CHECK(got >= 0, "{}: {}: is broken: {}", file->name(), printable(name),
                 printable(zip_file_strerror(opened.get())));
    }
    HEED_CHECK(filled == size, "{}: {}: must be {} bytes, but is {}", file->name(), printable(name), size, filled);
    bytes.resize(size);
    return bytes;
  }
};

NpzReader::NpzReader(std::shared_ptr<const MappedFile> file) : archive_(std::make_unique<Archive>(std::move(file))) {}
NpzReader::NpzReader(const std::filesystem::path& path) : NpzReader(std::make_shared<const MappedFile>(path)) {}
NpzReader::NpzReader(std::string bytes, std::string name)
    : NpzReader(std::make_shared<const MappedFile>(std::move(bytes), std::move(name))) {}
NpzReader::NpzReader(NpzReader&&) noexcept = default;
NpzReader::~NpzReader() = default;

const std::string& NpzReader::name() const { return archive_->file->name(); }

std::vector<std::string> NpzReader::entries() const {
  std::vector<std::string> names;
  for (const auto& [entry, where] : archive_->entries) names.push_back(entry);
  return names;
}

NpyArray NpzReader::array(std::string_view name) const {
  const std::string entry = std::string(name) + ".npy";
  return parse_npy_array(archive_->read(entry), fmt::format("{}: {}", archive_->file->name(), printable(entry)));
}

std::string NpzReader::text(std::string_view entry) const { return archive_->read(entry); }

// --- Writing ---------------------------------------------------------------------------------------------------------

struct NpzWriter::Archive {
  std::map<std::string, std::string> contents;  // which libzip reads when the archive is closed
  zip_source_t* target = nullptr;
  Zip zip;

  Archive() {
    ZipError error;
    Source source(zip_source_buffer_create(nullptr, 0, 0, &error.error));
    HEED_CHECK(source != nullptr, "NpzWriter: {}", error.text());
    zip.reset(zip_open_from_source(source.get(), ZIP_CREATE | ZIP_TRUNCATE, &error.error));
    HEED_CHECK(zip != nullptr, "NpzWriter: {}", error.text());
    target = source.release();
    zip_source_keep(target);  // beyond the archive's end
  }
  ~Archive() {
    zip.reset();
    zip_source_free(target);
  }

  void add(const std::string& name, std::string bytes) {
    const auto [at, is_new] = contents.emplace(name, std::move(bytes));
    HEED_CHECK(is_new, "NpzWriter: there is an entry {} already", printable(name));
    Source source(zip_source_buffer(zip.get(), at->second.data(), at->second.size(), 0));
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(zip.get(), name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
    HEED_CHECK(index >= 0, "NpzWriter: {}: {}", printable(name), printable(zip_strerror(zip.get())));
    static_cast<void>(source.release());
    const auto entry = static_cast<zip_uint64_t>(index);
    zip_set_file_compression(zip.get(), entry, ZIP_CM_STORE, 0);
    zip_file_set_dostime(zip.get(), entry, kDosTime, kDosDate, 0);
  }

  std::string close() {
    HEED_CHECK(!contents.empty(), "NpzWriter: an archive must have an entry");  // libzip would leave nothing
    HEED_CHECK(zip_close(zip.get()) == 0, "NpzWriter: {}", printable(zip_strerror(zip.get())));
    static_cast<void>(zip.release());
    contents.clear();
    zip_stat_t stat;
    zip_stat_init(&stat);
    const bool opened = zip_source_stat(target, &stat) == 0 && zip_source_open(target) == 0;
    HEED_CHECK(opened, "NpzWriter: {}", printable(zip_error_strerror(zip_source_error(target))));
    std::string bytes(stat.size, '\0');
    const zip_int64_t got = zip_source_read(target, bytes.data(), bytes.size());
    zip_source_close(target);
    HEED_CHECK(got == static_cast<zip_int64_t>(bytes.size()), "NpzWriter: wrote {} bytes, and has {}", bytes.size(),
               got);
    return bytes;
  }
};

NpzWriter::NpzWriter() : archive_(std::make_unique<Archive>()) {}
NpzWriter::NpzWriter(NpzWriter&&) noexcept = default;
NpzWriter::~NpzWriter() = default;

void NpzWriter::add(const std::string& name, const ConstView& array) {
  archive_->add(name + ".npy", npy_bytes(array, name));
}
void NpzWriter::add_text(const std::string& entry, std::string text) { archive_->add(entry, std::move(text)); }
std::string NpzWriter::bytes() { return archive_->close(); }
void NpzWriter::save(const std::filesystem::path& path) { write_file(path, bytes()); }

}  // namespace heed
