#include <png.h>

#include <csetjmp>
#include <cstring>
#include <new>
#include <string>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/image/formats.h"

namespace heed {
namespace {

// libpng calls back and leaves by longjmp, over frames that therefore own nothing: what they fill lies in here.
struct PngReading {
  std::string_view bytes;
  std::size_t at = 0;
  char reason[128] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0, height = 0;

  ~PngReading() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void on_png_error(png_structp png, png_const_charp message) {
  auto* reading = static_cast<PngReading*>(png_get_error_ptr(png));
  std::strncpy(reading->reason, message, sizeof reading->reason - 1);
  png_longjmp(png, 1);
}

void on_png_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, std::size_t count) {
  auto* reading = static_cast<PngReading*>(png_get_io_ptr(png));
  if (count > reading->bytes.size() - reading->at) png_error(png, "the file ends too early");
  std::memcpy(to, reading->bytes.data() + reading->at, count);
  reading->at += count;
}

// Whether the header could be read, and everything asked to become red, green and blue of 8 bits.
bool read_png_header(PngReading& reading) {
  if (setjmp(png_jmpbuf(reading.png))) return false;
  png_set_read_fn(reading.png, &reading, on_read);
  png_set_user_limits(reading.png, static_cast<png_uint_32>(kMostImagePixels),
                      static_cast<png_uint_32>(kMostImagePixels));
  png_read_info(reading.png, reading.info);
  reading.width = png_get_image_width(reading.png, reading.info);
  reading.height = png_get_image_height(reading.png, reading.info);
  const int colours = png_get_color_type(reading.png, reading.info);
  if (colours == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reading.png);
  if (colours == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(reading.png);
  if (png_get_bit_depth(reading.png, reading.info) == 16) png_set_strip_16(reading.png);
  // Colours of a palette become opaque or not where it says so.
  const bool clear = colours == PNG_COLOR_TYPE_PALETTE && png_get_valid(reading.png, reading.info, PNG_INFO_tRNS) != 0;
  if (clear || (colours & PNG_COLOR_MASK_ALPHA) != 0) png_set_strip_alpha(reading.png);
  if ((colours & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(reading.png);
  return true;
}

// `rows` [height * width * 3]. An interlaced picture is read in several passes over them.
bool read_png_rows(PngReading& reading, std::uint8_t* rows) {
  if (setjmp(png_jmpbuf(reading.png))) return false;
  const int passes = png_set_interlace_handling(reading.png);
  png_read_update_info(reading.png, reading.info);
  const std::size_t row_bytes = std::size_t{reading.width} * 3;
  if (png_get_rowbytes(reading.png, reading.info) != row_bytes) png_error(reading.png, "has rows of another length");
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 y = 0; y < reading.height; ++y) png_read_row(reading.png, rows + y * row_bytes, nullptr);
  }
  png_read_end(reading.png, nullptr);
  return true;
}

}  // namespace

Image parse_png(std::string_view bytes, std::string_view name) {
  PngReading reading{.bytes = bytes};
  reading.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, on_png_error, on_png_warning);
  if (reading.png == nullptr) throw std::bad_alloc();
  reading.info = png_create_info_struct(reading.png);
  if (reading.info == nullptr) throw std::bad_alloc();
  const auto refuse = [&] { fail("{}: is a broken PNG file: {}", name, printable(reading.reason)); };
  if (!read_png_header(reading)) refuse();
  check_image_extents(reading.height, reading.width, name);
  // A row takes at least two bytes of a file, packed by at most 1032: absurd extents are refused before their memory.
  constexpr std::uint64_t kMostPacked = 1100;
  HEED_CHECK(std::uint64_t{reading.height} * ((reading.width + 7) / 8 + 1) / kMostPacked <= bytes.size(),
             "{}: is a broken PNG file: {} bytes cannot hold {} x {} pixels", name, bytes.size(), reading.width,
             reading.height);
  Image image{static_cast<Index>(reading.height), static_cast<Index>(reading.width)};
  image.pixels.resize(std::size_t{reading.height} * reading.width * 3);
  if (!read_png_rows(reading, image.pixels.data())) refuse();
  return image;
}

std::string png_bytes(const Image& image) {
  HEED_CHECK(image.height >= 1 && image.width >= 1, "png_bytes: the picture has no pixels");
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width), header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string bytes(size, '\0');
  const int written = png_image_write_to_memory(&header, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr);
  HEED_CHECK(written != 0, "png_bytes: {}", printable(header.message));
  bytes.resize(size);
  return bytes;
}

}  // namespace heed
