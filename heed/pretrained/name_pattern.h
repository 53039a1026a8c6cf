// Names of parameters with places for any element: how rules find their way from heed's names to a file's.
//
//   std::vector<std::string> stars;
//   begins_name("encoder.layers.*.norm1", "encoder.layers.3.norm1.weight", stars);       // ".weight"; stars: {"3"}
//   fill_stars("bert.encoder.layer.*.norm", stars);                                      // "bert.encoder.layer.3.norm"
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Where the pattern's elements between dots begin the name's: what follows them, from its dot on, and in `stars` what
// each `*` stands for.
std::optional<std::string> begins_name(std::string_view pattern, std::string_view name,
                                       std::vector<std::string>& stars);
// The pattern with the first, second, ... `*` replaced.
std::string fill_stars(std::string_view pattern, std::span<const std::string> stars);

}  // namespace heed
