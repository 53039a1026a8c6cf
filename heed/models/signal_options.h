// What an encoder reads that is no text: a picture, in patches (Dosovitskiy et al. 2021), or sound, in frames of mel
// bands (Radford et al. 2022).
//
//   SignalOptions signal{.kind = SignalKind::picture, .channels = 3, .height = 224, .width = 224, .patch = 16};
//   signal.positions();                            // 197: 14 x 14 patches, and the class token before them
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/base/index.h"
#include "heed/io/fields.h"

namespace heed {

enum class SignalKind { none, picture, sound };
inline constexpr std::pair<std::string_view, SignalKind> kSignalKindNames[] = {
    {"none", SignalKind::none}, {"picture", SignalKind::picture}, {"sound", SignalKind::sound}};
inline std::span<const std::pair<std::string_view, SignalKind>> enum_names(SignalKind) { return kSignalKindNames; }

struct SignalOptions {
  SignalKind kind = SignalKind::none;
  Index channels = 0;
  Index height = 0, width = 0, patch = 0;  // of a picture
  bool distilled = false;                  // whether a token behind its class token learned from a teacher
  Index frames = 0;                        // of sound

  bool any() const { return kind != SignalKind::none; }
  // What is before a picture's patches: the class token, and the one that learned from a teacher.
  Index tokens() const { return distilled ? 2 : 1; }
  // Of the encoder: a picture's patches with the tokens before them; a sound's frames, two by two.
  Index positions() const {
    return kind == SignalKind::picture ? (height / patch) * (width / patch) + tokens() : (frames + 1) / 2;
  }
  // Throws heed::Error naming the field that makes no sense.
  void check() const;

  static constexpr std::string_view kLaterFields[] = {"distilled"};

  template <typename V>
  friend void visit_fields(SignalOptions& o, V&& visit) {
    visit("kind", o.kind, "What the encoder reads in the place of tokens: none, picture or sound.");
    visit("channels", o.channels, "Colours of a picture, mel bands of sound.", NumberRange::from(0, 1 << 16));
    visit("height", o.height, "Rows of a picture.", NumberRange::from(0, 1 << 16));
    visit("width", o.width, "Columns of a picture.", NumberRange::from(0, 1 << 16));
    visit("patch", o.patch, "Rows and columns of one of its patches; what they leave of the picture is not read.",
          NumberRange::from(0, 1 << 16));
    visit("distilled", o.distilled, "A picture has a token behind the class token, which learned from a teacher.");
    visit("frames", o.frames, "Frames of sound.", NumberRange::from(0, 1 << 20));
  }
};

}  // namespace heed
