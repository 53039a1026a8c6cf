#include "heed/tasks/picture_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/fingerprint.h"
#include "heed/base/printable.h"
#include "heed/base/text_lines.h"

namespace heed {
namespace {

struct Part {
  Index left, top, width, height;
};

struct Entry {
  std::string path;
  std::optional<Part> part;
};

Entry parse_line(std::string_view line, const std::string& place) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto refuse = [&] {
    fail("{}: a line must be a picture's path, or that and the left, top, width and height of a part, but is '{}'",
         place, printable(line, 80));
  };
  if (fields.front().empty() || (fields.size() != 1 && fields.size() != 5)) refuse();
  Entry entry{std::string(fields.front()), {}};
  if (fields.size() == 1) return entry;
  std::array<Index, 4> numbers{};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string_view text = fields[i + 1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
    if (error != std::errc() || end != text.data() + text.size() || numbers[i] < (i < 2 ? 0 : 1)) refuse();
  }
  entry.part = Part{numbers[0], numbers[1], numbers[2], numbers[3]};
  return entry;
}

Image part_of(const Image& image, const Part& part, const std::string& place) {
  HEED_CHECK(part.left <= image.width && part.width <= image.width - part.left && part.top <= image.height &&
                 part.height <= image.height - part.top,
             "{}: the part is not within the picture, which has {} x {} pixels", place, image.width, image.height);
  Image cut{part.height, part.width, {}};
  for (Index y = part.top; y < part.top + part.height; ++y) {
    const std::uint8_t* row = image.at(y, part.left);
    cut.pixels.insert(cut.pixels.end(), row, row + part.width * 3);
  }
  return cut;
}

}  // namespace

PictureList read_picture_list(const std::filesystem::path& list, std::size_t most) {
  const std::vector<std::string> lines = read_text_lines(list);
  HEED_CHECK(!lines.empty(), "{}: is empty: it lists no picture", text_name(list));
  PictureList pictures;
  std::string opened;  // the file of `whole`: those of one file mostly stand together
  Image whole;
  std::size_t bytes = 0;
  Fingerprint print;
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
    const std::string place = fmt::format("{}:{}", text_name(list), i + 1);
    const Entry entry = parse_line(lines[i], place);
    if (i == 0 || entry.path != opened) {
      whole = read_image(list.parent_path() / entry.path);
      opened = entry.path;
    }
    Image image = entry.part ? part_of(whole, *entry.part, place) : whole;
    if (i > 0) {
      HEED_CHECK(image.height == pictures.height() && image.width == pictures.width(),
                 "{}: the picture has {} x {} pixels, but the first of the list has {} x {}", place, image.width,
                 image.height, pictures.width(), pictures.height());
    }
    bytes += image.pixels.size();
    HEED_CHECK(bytes <= kMostListedBytes, "{}: the pictures up to here have more than {} bytes", place,
               kMostListedBytes);
    print.add({reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()});
    pictures.images.push_back(std::move(image));
  }
  pictures.fingerprint = fmt::format("{} pictures, {:016x}", pictures.images.size(), print.value());
  return pictures;
}

}  // namespace heed
