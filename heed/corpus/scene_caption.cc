#include "heed/corpus/scene_caption.h"

#include <algorithm>

namespace heed {
namespace {

// Puts a caption together and counts its characters.
class CaptionWriter {
 public:
  // Words of languages that have blanks between words.
  void blank() {
    if (length_ > 0) write(" ");
  }
  void write(std::string_view text) {
    caption_.text += text;
    length_ += std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  }
  void place(std::string_view text, const SceneThing& thing, bool noun = false) {
    const Index begin = length_;
    write(text);
    caption_.words.push_back({std::string(text), begin, length_, noun, thing.box});
  }
  SceneCaption take() { return std::move(caption_); }

 private:
  SceneCaption caption_;
  Index length_ = 0;
};

template <typename T, std::size_t n>
const T& of(const T (&names)[n], auto which) {
  return names[static_cast<std::size_t>(which)];
}

bool is_alone(const Scene& scene) { return scene.things.size() == 1; }

// --- English ---------------------------------------------------------------------------------------------------------

void write_english(CaptionWriter& out, const SceneThing& thing) {
  static constexpr std::string_view kSizes[] = {"small", "", "large"};
  static constexpr std::string_view kColours[] = {"red", "blue", "green", "yellow", "black", "purple"};
  static constexpr std::string_view kShapes[] = {"circle", "square", "triangle", "star", "diamond", "cross"};
  out.blank(), out.write("a");  // before none of these words "an"
  if (thing.size != SceneSize::medium) out.blank(), out.place(of(kSizes, thing.size), thing);
  out.blank(), out.place(of(kColours, thing.colour), thing);
  out.blank(), out.place(of(kShapes, thing.shape), thing, true);
}

void write_english(CaptionWriter& out, const Scene& scene) {
  static constexpr std::string_view kPlaces[] = {"at the top left",
                                                 "at the top right",
                                                 "at the bottom left",
                                                 "at the bottom right",
                                                 "in the middle",
                                                 "left of",
                                                 "right of",
                                                 "above",
                                                 "below"};
  write_english(out, scene.things[0]);
  out.blank(), out.write(of(kPlaces, scene.place));
  if (!is_alone(scene)) write_english(out, scene.things[1]);
}

// --- German: gender and case -----------------------------------------------------------------------------------------

enum class Gender { masculine, feminine, neuter };
enum class Case { nominative, dative };

struct GermanNoun {
  std::string_view text;
  Gender gender;
};

void write_german(CaptionWriter& out, const SceneThing& thing, Case in) {
  static constexpr std::string_view kSizes[] = {"klein", "", "groß"};
  static constexpr std::string_view kColours[] = {"rot", "blau", "grün", "gelb", "schwarz", "violett"};
  static constexpr GermanNoun kShapes[] = {{"Kreis", Gender::masculine}, {"Quadrat", Gender::neuter},
                                           {"Dreieck", Gender::neuter},  {"Stern", Gender::masculine},
                                           {"Raute", Gender::feminine},  {"Kreuz", Gender::neuter}};
  // By gender, of the nominative: behind "ein", which does not tell masculine from neuter, the adjective does.
  static constexpr std::string_view kArticles[] = {"ein", "eine", "ein"}, kEndings[] = {"er", "e", "es"};
  const GermanNoun& noun = of(kShapes, thing.shape);
  const bool feminine = noun.gender == Gender::feminine;
  const std::string_view article = in == Case::nominative ? of(kArticles, noun.gender) : feminine ? "einer" : "einem";
  const std::string ending(in == Case::nominative ? of(kEndings, noun.gender) : "en");
  out.blank(), out.write(article);
  if (thing.size != SceneSize::medium) out.blank(), out.place(std::string(of(kSizes, thing.size)) + ending, thing);
  out.blank(), out.place(std::string(of(kColours, thing.colour)) + ending, thing);
  out.blank(), out.place(noun.text, thing, true);
}

void write_german(CaptionWriter& out, const Scene& scene) {
  static constexpr std::string_view kPlaces[] = {"oben links",   "oben rechts",  "unten links",
                                                 "unten rechts", "in der Mitte", "links von",
                                                 "rechts von",   "über",         "unter"};
  write_german(out, scene.things[0], Case::nominative);
  out.blank(), out.write(of(kPlaces, scene.place));
  if (!is_alone(scene)) write_german(out, scene.things[1], Case::dative);
}

// --- Chinese: what is known comes first ------------------------------------------------------------------------------

// A colour of one character stands between a size and a noun of one (小红圆); otherwise it has its 色, and the size stands
// behind it (红色小三角形, 红色圆形).
void write_chinese(CaptionWriter& out, const SceneThing& thing) {
  static constexpr std::string_view kSizes[] = {"小", "", "大"};
  static constexpr std::string_view kColours[] = {"红", "蓝", "绿", "黄", "黑", "紫"};
  static constexpr std::string_view kShapes[] = {"圆形", "正方形", "三角形", "五角星", "菱形", "十字形"};
  const std::string colour(of(kColours, thing.colour));
  const std::string_view size = of(kSizes, thing.size);
  if (thing.shape == SceneShape::circle && !size.empty()) {
    out.place(size, thing), out.place(colour, thing), out.place("圆", thing, true);
    return;
  }
  out.place(colour + "色", thing);
  if (!size.empty()) out.place(size, thing);
  out.place(of(kShapes, thing.shape), thing, true);
}

void write_chinese(CaptionWriter& out, const Scene& scene) {
  static constexpr std::string_view kPlaces[] = {"左上角的", "右上角的", "左下角的", "右下角的", "中间的",
                                                 "左边的",   "右边的",   "上方的",   "下方的"};
  if (!is_alone(scene)) write_chinese(out, scene.things[1]);
  out.write(of(kPlaces, scene.place));
  write_chinese(out, scene.things[0]);
}

}  // namespace

SceneCaption describe_scene(const Scene& scene, SceneLanguage language) {
  CaptionWriter out;
  switch (language) {
    case SceneLanguage::english:
      write_english(out, scene);
      break;
    case SceneLanguage::german:
      write_german(out, scene);
      break;
    case SceneLanguage::chinese:
      write_chinese(out, scene);
      break;
  }
  return out.take();
}

}  // namespace heed
