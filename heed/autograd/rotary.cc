#include "heed/autograd/rotary.h"

#include "heed/autograd/record.h"
#include "heed/base/check.h"

namespace heed {

Var rotary(const Context& context, const Heads& x, const RotaryTables& tables, const Tensor& positions, Index offset,
           RotaryPairing pairing) {
  HEED_CHECK(x.source.rank() == 3, "rotary: needs heads of a source [B, L, *], but it is {}",
             describe(x.source.value().view()));
  // The tensors are captured, so that they outlive the tape.
  const auto angles = [tables, positions, offset] {
    return RotaryAngles{.cos = tables.cos, .sin = tables.sin, .positions = positions.view(), .offset = offset};
  };
  const bool whole = x.heads * x.width == x.source.dim(2);
  Tensor y = Tensor::empty_like(x.source.value().view());
  if (!whole) copy(x.source.value().view(), y);
  rotary(x.view_of(x.source.value()), angles(), pairing, x.view_of(y));
  return record(context, y, {x.source}, [=](const Tensor& dy) {
    const Tensor dx = x.source.new_grad();
    if (!whole) copy(dy.view(), dx);
    rotary_backward(x.view_of(dy), angles(), pairing, x.view_of(dx));
    x.source.add_grad(dx);
  });
}

}  // namespace heed
