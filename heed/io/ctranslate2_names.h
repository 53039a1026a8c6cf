// The names that variables of CTranslate2's first files have today: those were OpenNMT-tf's own.
//
//   name_of_today("transformer/decoder/layer_0/masked_multi_head/conv1d_1/kernel:0");
//                                                           // "decoder/layer_0/self_attention/linear_1/weight"
#pragma once

#include <string>

namespace heed {

// A name of the first revision of a Transformer with an encoder, in the words of every later one.
std::string name_of_today(std::string name);

}  // namespace heed
