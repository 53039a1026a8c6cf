#include <cstddef>
#include <cstdio>
// jpeglib.h takes size_t and FILE from those before it.
#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>
#include <string>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/image/formats.h"
#include "heed/image/orientation.h"

namespace heed {
namespace {

// libjpeg calls back and leaves by longjmp, over frames that therefore own nothing: what they fill lies in here.
struct JpegReading {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back{};
  char reason[JMSG_LENGTH_MAX] = "";

  ~JpegReading() { jpeg_destroy_decompress(&jpeg); }
};

JpegReading& reading_of(j_common_ptr jpeg) { return *static_cast<JpegReading*>(jpeg->client_data); }

[[noreturn]] void on_jpeg_error(j_common_ptr jpeg) {
  JpegReading& reading = reading_of(jpeg);
  jpeg->err->format_message(jpeg, reading.reason);
  std::longjmp(reading.back, 1);
}

// A warning, of which the level is -1, is of broken data, which would be shown as something that nobody drew; but bytes
// between markers, which some cameras write, do no harm.
void on_message(j_common_ptr jpeg, int level) {
  if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA) on_jpeg_error(jpeg);
}

// A scan costs time for every pixel, however few bytes it has. Encoders make about ten.
void on_progress(j_common_ptr jpeg) {
  constexpr int kMostScans = 100;
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > kMostScans) ERREXIT(jpeg, JERR_NOTIMPL);
}

constexpr int kExifMarker = JPEG_APP0 + 1;

// What the first of the markers that are Exif's says.
int orientation_of(const jpeg_decompress_struct& jpeg) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (jpeg_saved_marker_ptr marker = jpeg.marker_list; marker != nullptr; marker = marker->next) {
    const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (marker->marker == kExifMarker && data.starts_with(kExif)) return exif_orientation(data.substr(kExif.size()));
  }
  return 1;
}

bool read_jpeg_header(JpegReading& reading, std::string_view bytes) {
  if (setjmp(reading.back)) return false;
  jpeg_create_decompress(&reading.jpeg);
  jpeg_mem_src(&reading.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  reading.progress.progress_monitor = on_progress;
  reading.jpeg.progress = &reading.progress;
  constexpr unsigned kLongest = 0xFFFF;
  jpeg_save_markers(&reading.jpeg, kExifMarker, kLongest);
  jpeg_read_header(&reading.jpeg, TRUE);
  return true;
}

bool read_jpeg_rows(JpegReading& reading, std::uint8_t* rows) {
  if (setjmp(reading.back)) return false;
  reading.jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&reading.jpeg);
  while (reading.jpeg.output_scanline < reading.jpeg.output_height) {
    JSAMPROW row = rows + std::size_t{reading.jpeg.output_scanline} * reading.jpeg.output_width * 3;
    jpeg_read_scanlines(&reading.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&reading.jpeg);
  return true;
}

}  // namespace

Image parse_jpeg(std::string_view bytes, std::string_view name) {
  JpegReading reading;
  reading.jpeg.err = jpeg_std_error(&reading.errors);
  reading.jpeg.client_data = &reading;
  reading.errors.error_exit = on_jpeg_error;
  reading.errors.emit_message = on_message;
  const auto refuse = [&] { fail("{}: is a broken JPEG file: {}", name, printable(reading.reason)); };
  if (!read_jpeg_header(reading, bytes)) refuse();
  check_image_extents(reading.jpeg.image_height, reading.jpeg.image_width, name);
  const J_COLOR_SPACE colours = reading.jpeg.jpeg_color_space;
  HEED_CHECK(colours == JCS_GRAYSCALE || colours == JCS_YCbCr || colours == JCS_RGB,
             "{}: is a JPEG file of {} colours for printing, which heed does not read", name,
             reading.jpeg.num_components);
  // A block of 64 pixels takes a bit at least, or a part of one where it is coded by arithmetic: absurd extents are
  // refused before their memory.
  constexpr std::uint64_t kMostPacked = 1 << 14;
  HEED_CHECK(std::uint64_t{reading.jpeg.image_height} * reading.jpeg.image_width / kMostPacked <= bytes.size(),
             "{}: is a broken JPEG file: {} bytes cannot hold {} x {} pixels", name, bytes.size(),
             reading.jpeg.image_width, reading.jpeg.image_height);
  Image image{static_cast<Index>(reading.jpeg.image_height), static_cast<Index>(reading.jpeg.image_width)};
  image.pixels.resize(std::size_t{reading.jpeg.image_height} * reading.jpeg.image_width * 3);
  const int orientation = orientation_of(reading.jpeg);
  if (!read_jpeg_rows(reading, image.pixels.data())) refuse();
  return upright(image, orientation);
}

}  // namespace heed
