// How a parameter of heed is made of the tensors of another toolkit's file.
//
//   const std::vector<TensorRule> rules{
//       {"embedding", {"model.embed_tokens"}},
//       {"decoder.layers.*.self_attn.in_proj_weight", {"h.*.attn.c_attn.weight"}, TensorLayout::transposed}};
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/tensor/tensor.h"

namespace heed {

// How a matrix [Out, In], or a vector [Out], lies in the file. As it is, In may be several axes: a kernel [Out, C, P,
// P].
enum class TensorLayout {
  as_it_is,
  transposed,   // a matrix is [In, Out] (GPT-2's Conv1D)
  heads_apart,  // rows of queries, keys and values are [heads, 3, head width], not [3, heads, head width] (BLOOM)
  plus_one,     // a norm's weight w stands for 1 + w (Gemma)
  taps_last,    // a kernel is [Out, In, Taps], not [Out, Taps, In] (PyTorch's Conv1d)
};

// Of several rules that fit a parameter's name the first holds.
struct TensorRule {
  // heed's path, which begins the name, or is it; `*` stands for any one element between dots.
  std::string parameter;
  // The file's, in the place of that; the first, second, ... `*` for what the first, second, ... of `parameter` stood
  // for. What follows in the name follows here too. Several lie below one another along the first axis. An empty one is
  // of zeros: rows that the file leaves out (biases of Whisper's keys); its rows are an equal share of all.
  std::vector<std::string> tensors;
  TensorLayout layout = TensorLayout::as_it_is;
  Index first_row = 0;                         // the file's rows before it are not used
  std::function<Tensor()> computed = nullptr;  // where the file has none: a table of sinusoids
  // Other names of the same tensor: where several share one, a file may keep it under any of theirs.
  std::vector<std::string> otherwise{};
  // Of how many rows of a tensor the parameter is made, from first_row on; 0: of all.
  Index rows = 0;
};

}  // namespace heed
