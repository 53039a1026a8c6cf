#include "heed/pretrained/pixel_values.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

constexpr Index kColours = 3;
constexpr Index kMostPixelsOfSide = 1 << 16;

std::array<Index, 2> size_of_picture(const Json& size) {
  const auto side = [](const Json& pixels) { return pixels.integer(1, kMostPixelsOfSide); };
  if (size.kind() == Json::Kind::integer) return {side(size), side(size)};
  if (size.kind() == Json::Kind::array && size.size() == 2) return {side(size[Index{0}]), side(size[Index{1}])};
  return {side(size["height"]), side(size["width"])};
}

// The Python Imaging Library's numbers.
constexpr std::pair<Index, Resampling> kResamplings[] = {{0, Resampling::nearest},  {1, Resampling::lanczos},
                                                         {2, Resampling::bilinear}, {3, Resampling::bicubic},
                                                         {4, Resampling::box},      {5, Resampling::hamming}};

Resampling resampling_of(const Json& number) {
  const auto* const found = std::ranges::find(kResamplings, number.integer(), &std::pair<Index, Resampling>::first);
  if (found == std::end(kResamplings)) {
    number.refuse("must be 0 (nearest), 1 (Lanczos), 2 (bilinear), 3 (bicubic), 4 (box) or 5 (Hamming)");
  }
  return found->second;
}

std::array<double, kColours> of_colours(const Json& list) {
  if (list.kind() != Json::Kind::array) return {list.number(), list.number(), list.number()};
  if (list.size() != kColours) list.refuse("must have a number for each of three colours");
  return {list[Index{0}].number(), list[Index{1}].number(), list[Index{2}].number()};
}

// Height and width of a picture whose shorter side becomes so long; the longer is rounded down.
std::array<Index, 2> with_shorter_side(const Image& image, Index shorter) {
  const bool is_wide = image.height <= image.width;
  const Index from = is_wide ? image.height : image.width, other = is_wide ? image.width : image.height;
  HEED_CHECK(from >= 1, "pixel_values: a picture without pixels");
  const Index longer = shorter * other / from;
  HEED_CHECK(longer <= kMostPixelsOfSide, "pixel_values: a picture of {} x {} pixels is too long for a side of {}",
             image.width, image.height, shorter);
  return is_wide ? std::array{shorter, longer} : std::array{longer, shorter};
}

// Where the picture is smaller there is black around it.
Image centre_of(const Image& image, const std::array<Index, 2>& size) {
  Image centre{.height = size[0], .width = size[1]};
  centre.pixels.resize(static_cast<std::size_t>(size[0] * size[1] * kColours));
  // Of an odd number that are too many, or too few, one more is behind than before: it is rounded down.
  const auto first_of = [](Index from, Index kept) { return (from - kept - (from < kept ? 1 : 0)) / 2; };
  const Index top = first_of(image.height, size[0]), left = first_of(image.width, size[1]);
  const Index begin = std::max<Index>(0, -left), end = std::min(size[1], image.width - left);
  for (Index y = std::max<Index>(0, -top); y < std::min(size[0], image.height - top); ++y) {
    std::copy_n(image.at(top + y, left + begin), (end - begin) * kColours,
                centre.pixels.data() + (y * size[1] + begin) * kColours);
  }
  return centre;
}

}  // namespace

PixelOptions read_pixel_options(const std::filesystem::path& folder) {
  PixelOptions options;
  const std::filesystem::path file = folder / "preprocessor_config.json";
  if (!file_exists(file)) return options;
  const Json config = read_json(file);
  options.resizes = flag_or(config, {"do_resize"}, true);
  if (const auto size = find_field(config, {"size"})) {
    if (size->kind() == Json::Kind::object && size->has("shortest_edge")) {
      options.shorter_side = (*size)["shortest_edge"].integer(1, kMostPixelsOfSide);
    } else {
      options.size = size_of_picture(*size);
    }
  }
  if (flag_or(config, {"do_center_crop"}, false)) options.crop = size_of_picture(config["crop_size"]);
  if (const auto number = find_field(config, {"resample"})) options.resampling = resampling_of(*number);
  const bool rescales = flag_or(config, {"do_rescale"}, true);
  options.scale = rescales ? number_or(config, {"rescale_factor"}, 1.0 / 255) : 1;
  if (!flag_or(config, {"do_normalize"}, true)) {
    options.mean = {0, 0, 0};
    options.deviation = {1, 1, 1};
    return options;
  }
  if (const auto mean = find_field(config, {"image_mean"})) options.mean = of_colours(*mean);
  if (const auto deviation = find_field(config, {"image_std"})) {
    options.deviation = of_colours(*deviation);
    for (double one : options.deviation) {
      if (!(one > 0)) deviation->refuse("must be above 0");
    }
  }
  return options;
}

void save_pixel_options(const std::filesystem::path& folder, const PixelOptions& options) {
  const auto* const resampling =
      std::ranges::find(kResamplings, options.resampling, &std::pair<Index, Resampling>::second);
  Json json = Json::object({{"do_resize", options.resizes},
                            {"resample", resampling->first},
                            {"rescale_factor", options.scale},
                            {"image_mean", Json::array_of(options.mean)},
                            {"image_std", Json::array_of(options.deviation)}});
  const auto sides = [](const std::array<Index, 2>& both) {
    return Json::object({{"height", both[0]}, {"width", both[1]}});
  };
  if (options.size) json.set("size", sides(*options.size));
  if (options.shorter_side > 0) json.set("size", Json::object({{"shortest_edge", options.shorter_side}}));
  if (options.crop) {
    json.set("do_center_crop", true);
    json.set("crop_size", sides(*options.crop));
  }
  write_json(folder / "preprocessor_config.json", json);
}

Tensor pixel_values(const Image& image, const PixelOptions& options, const SignalOptions& signal) {
  HEED_CHECK(signal.kind == SignalKind::picture, "the model reads no pictures");
  HEED_CHECK(signal.channels == kColours, "the model reads pictures of {} channels, and files have the three colours",
             signal.channels);
  const std::array<Index, 2> wanted{signal.height, signal.width};
  Image seen = image;
  if (options.resizes) {
    const std::array<Index, 2> size =
        options.shorter_side > 0 ? with_shorter_side(image, options.shorter_side) : options.size.value_or(wanted);
    seen = resized(image, size[0], size[1], options.resampling);
  }
  const std::array<Index, 2> made = options.crop.value_or(std::array{seen.height, seen.width});
  HEED_CHECK(made == wanted,
             "a picture of {} x {} pixels is {} x {} as its model's preprocessor_config.json has it, but the model "
             "reads {} x {}",
             image.width, image.height, made[1], made[0], wanted[1], wanted[0]);
  if (options.crop) seen = centre_of(seen, *options.crop);
  const Tensor values = Tensor::empty(DType::f32, {1, kColours, seen.height, seen.width});
  float* to = values.data<float>();
  for (std::size_t colour = 0; colour < std::size_t{kColours}; ++colour) {
    for (Index i = 0; i < seen.height * seen.width; ++i) {
      const double value = options.scale * seen.pixels[static_cast<std::size_t>(i) * kColours + colour];
      *to++ = static_cast<float>((value - options.mean[colour]) / options.deviation[colour]);
    }
  }
  return values;
}

}  // namespace heed
