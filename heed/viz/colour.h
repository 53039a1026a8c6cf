// Colours for numbers, in steps that look equally large.
//
//   Colour c = sequential_colour(0.7);             // of a weight in [0, 1]
//   std::string css = hex(c);                      // "#2b6d94"
#pragma once

#include <cstddef>
#include <string>

namespace heed {

// An sRGB colour, each part in [0, 1].
struct Colour {
  double red = 0, green = 0, blue = 0;
};

enum class Theme { light, dark };

// The colour of t in [0, 1]; what lies outside takes the nearest end, NaN takes no_number_colour(). On the light theme
// 0 is nearly the white of paper and 1 a deep violet, by way of green and blue; the dark theme runs the same path the
// other way. Equal steps of t are equal distances in OKLab (Ottosson 2020, "A perceptual color space for image
// processing") and the lightness is strictly monotone, so order survives grey printing and colour blindness.
Colour sequential_colour(double t, Theme theme = Theme::light);

// The colour of t in [-1, 1]: blue below zero, nearly white at zero, red above; both arms equally dark at equal
// distance.
Colour diverging_colour(double t);

// The colour of the i-th of several things that have no order, heads or kinds: eight that people with any colour vision
// tell apart, on white paper, then the same again. After Tol's "muted" scheme (Tol 2021, "Colour schemes", SRON/EPS/TN/
// 09-002), with a stronger yellow.
Colour categorical_colour(std::size_t i);

// The colour in `share` parts, white in the others; NaN takes no_number_colour().
Colour paler(const Colour& colour, double share);

// What stands for NaN and for masked (infinite) scores: a grey that neither scale contains.
Colour no_number_colour();

// The lightness of OKLab: 0 black, 1 white.
double lightness(const Colour& colour);

// The distance in OKLab; about 0.02 is just noticeable.
double colour_distance(const Colour& a, const Colour& b);

// Black or white, whichever is easier to read on a ground of this colour.
Colour ink_on(const Colour& ground);

// "#rrggbb".
std::string hex(const Colour& colour);

}  // namespace heed
