// A value whose gradient can be asked for.
//
//   Var w = Var::parameter(Tensor::zeros(DType::f32, {4, 3}));
//   Tape tape; Context context{.tape = &tape, ...};
//   Var y = linear(context, x, w, {});              // recorded on the tape
//   y.add_grad(dy); tape.backward();                // w.grad() is filled
#pragma once

#include <initializer_list>
#include <memory>

#include "heed/ops/weight.h"
#include "heed/tensor/tensor.h"

namespace heed {

class Tape;
struct LowRank;

// A handle: copies share the value and its gradient. A default-constructed Var is empty and stands for "none".
//
// There are two kinds of gradient, as in heed/ops. An activation's is given whole by each consumer (add_grad) and freed
// when the tape has used it. A parameter's is one buffer that every use adds to (grad_accumulator) and that lives until
// zero_grad.
class Var {
 public:
  Var() = default;
  // A value that gets no gradient.
  explicit Var(Tensor value);
  // A value that gets one; a tensor that training changes.
  static Var parameter(Tensor value);
  // A weight in a narrow type (heed/ops/weight.h), which inference reads: it gets no gradient, and operators that read
  // it throw heed::Error where there is a tape. `scales` where values are i8; without, where they are the bytes of
  // `blocks`.
  static Var narrow(Tensor values, Tensor scales = {}, BlockType blocks = BlockType::none);
  // A weight that gets no gradient, and stands for itself and the product of two thin matrices that may: linear reads
  // W + scale up down (Hu et al. 2021), and never forms it. For linear alone; other operators read W.
  static Var adapted(Tensor weight, const LowRank& factors);
  // The output of a recorded operator.
  static Var activation(Tensor value);

  bool empty() const { return node_ == nullptr; }
  explicit operator bool() const { return !empty(); }
  // The value; an empty tensor for an empty Var.
  const Tensor& value() const;
  operator ConstView() const { return value().view(); }  // NOLINT: an operator takes a Var as its value
  // The scales of an i8 weight; else empty.
  const Tensor& scales() const;
  // The factors of an adapted weight; else null.
  const LowRank* low_rank() const;
  // The type of the blocks that the value is the bytes of.
  BlockType blocks() const { return node_ ? node_->blocks : BlockType::none; }
  operator Weight() const { return {value().view(), scales().view(), blocks()}; }  // NOLINT: or as a weight
  // How many numbers the value stands for.
  Index count() const { return blocks() == BlockType::none ? value().size() : dim(0) * Weight(*this).inputs(); }
  DType dtype() const { return value().dtype(); }
  Index dim(int axis) const { return value().dim(axis); }
  int rank() const { return value().rank(); }

  bool requires_grad() const { return node_ && node_->requires_grad; }
  bool has_grad() const { return node_ && !node_->grad.is_empty(); }
  // The gradient so far; empty where none has arrived.
  const Tensor& grad() const;
  // Adds a whole gradient. The first one is kept without a copy, so the caller must not write to it again.
  void add_grad(Tensor grad) const;
  // The buffer to add a gradient to, zeros at first; an empty view where no gradient is wanted.
  View grad_accumulator() const;
  // An uninitialised tensor of the value's shape for an operator to overwrite, or an empty one where no gradient is
  // wanted.
  Tensor new_grad() const;
  // Forgets the gradient.
  void clear_grad() const;
  // Sets a parameter's gradient to zero, keeping its memory.
  void zero_grad() const;

  // Replaces the value (an optimiser's step, a loaded checkpoint); the shape must stay.
  void set_value(const ConstView& value) const;
  // Converts a parameter in place, to f64 for a gradient check. Forgets the gradient.
  void convert(DType dtype) const;
  // Rows [begin, end) along the first axis, sharing the value of this parameter (or constant) and, where a tape
  // records, its gradient. Without a tape nothing of the parameter is written, so that threads may read one model.
  Var parameter_rows(Index begin, Index end, const Tape* tape) const;

  friend bool operator==(const Var& a, const Var& b) { return a.node_ == b.node_; }

 private:
  struct Node {
    Tensor value;
    Tensor grad;
    Tensor scales;
    BlockType blocks = BlockType::none;
    std::shared_ptr<const LowRank> low_rank = {};
    bool requires_grad = false;
    bool is_parameter = false;  // its gradient is one buffer, which parameter_rows share
  };
  std::shared_ptr<Node> node_;
};

// Two factors of what is added to a weight [Out, In]: scale up down.
struct LowRank {
  Var down;  // [rank, In]; A in the paper
  Var up;    // [Out, rank]; B
  double scale = 1;
};

}  // namespace heed
