#include "heed/kernels/recurrent.h"

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/recurrent.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes32 = hn::ScalableTag<float>;
using Vector = hn::VFromD<Lanes32>;

// The lanes of the units from `first` on, in arrays of several parts of `units` each.
struct UnitBlock {
  std::size_t units, first;
  HWY_INLINE Vector load(const float* p, std::size_t part = 0) const {
    return load_some(Lanes32(), p + part * units + first, units - first);
  }
  HWY_INLINE Vector load_or_zero(const float* p, std::size_t part = 0) const {
    return p == nullptr ? hn::Zero(Lanes32()) : load(p, part);
  }
  HWY_INLINE void store(Vector v, float* p, std::size_t part = 0) const {
    store_some(v, Lanes32(), p + part * units + first, units - first);
  }
};

// s (1 - s) and 1 - t^2: the derivatives of the sigmoid and of tanh from their values.
HWY_INLINE Vector sigmoid_slope(Vector s) { return hn::NegMulAdd(s, s, s); }
HWY_INLINE Vector tanh_slope(Vector t) { return hn::NegMulAdd(t, t, hn::Set(Lanes32(), 1.0f)); }

// a + p c, where p is the peephole of a gate, 0 the input's, 1 the forget gate's, 2 the output's.
HWY_INLINE Vector add_peephole(const UnitBlock& block, const float* peepholes, std::size_t part, Vector c, Vector a) {
  return peepholes == nullptr ? a : hn::MulAdd(block.load(peepholes, part), c, a);
}

// (1 - z) n + z h_prev.
HWY_INLINE Vector mix(Vector z, Vector n, Vector h_prev) { return hn::MulAdd(z, hn::Sub(h_prev, n), n); }

// The gradients of z's and n's arguments from that of h.
struct MixGradient {
  Vector dz, dn;
};
HWY_INLINE MixGradient mix_backward(Vector z, Vector n, Vector h_prev, Vector dh) {
  const Vector dz = hn::Mul(hn::Mul(dh, hn::Sub(h_prev, n)), sigmoid_slope(z));
  return {dz, hn::Mul(hn::NegMulAdd(dh, z, dh), tanh_slope(n))};
}

void GruRow(Index units, const float* gates_x, const float* gates_h, const float* h_prev, float* h, float* saved) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    const Vector r = sigmoid(d, hn::Add(block.load(gates_x, 0), block.load(gates_h, 0)));
    const Vector z = sigmoid(d, hn::Add(block.load(gates_x, 1), block.load(gates_h, 1)));
    const Vector u = block.load(gates_h, 2);
    const Vector n = tanh(d, hn::MulAdd(r, u, block.load(gates_x, 2)));
    block.store(mix(z, n, block.load(h_prev)), h);
    if (saved == nullptr) continue;
    block.store(r, saved, 0);
    block.store(z, saved, 1);
    block.store(n, saved, 2);
    block.store(u, saved, 3);
  }
}

void GruRowBackward(Index units, const float* saved, const float* h_prev, const float* dh, float* dgates_x,
                    float* dgates_h, float* dh_prev) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    const Vector r = block.load(saved, 0), z = block.load(saved, 1), n = block.load(saved, 2), u = block.load(saved, 3);
    const Vector upstream = block.load(dh);
    const auto [dz, dn] = mix_backward(z, n, block.load(h_prev), upstream);
    const Vector dr = hn::Mul(hn::Mul(dn, u), sigmoid_slope(r));
    block.store(dr, dgates_x, 0);
    block.store(dz, dgates_x, 1);
    block.store(dn, dgates_x, 2);
    block.store(dr, dgates_h, 0);
    block.store(dz, dgates_h, 1);
    block.store(hn::Mul(dn, r), dgates_h, 2);
    if (dh_prev != nullptr) block.store(hn::Mul(upstream, z), dh_prev);
  }
}

void GruResetRow(Index units, const float* gates_x, const float* gates_h, const float* h_prev, float* reset_h,
                 float* saved) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    const Vector r = sigmoid(d, hn::Add(block.load(gates_x, 0), block.load(gates_h, 0)));
    const Vector z = sigmoid(d, hn::Add(block.load(gates_x, 1), block.load(gates_h, 1)));
    block.store(hn::Mul(r, block.load(h_prev)), reset_h);
    block.store(r, saved, 0);
    block.store(z, saved, 1);
  }
}

void GruUpdateRow(Index units, const float* gates_x, const float* candidate_h, const float* h_prev, float* h,
                  float* saved) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    const Vector n = tanh(d, hn::Add(block.load(gates_x, 2), block.load(candidate_h)));
    block.store(mix(block.load(saved, 1), n, block.load(h_prev)), h);
    block.store(n, saved, 2);
  }
}

void GruUpdateRowBackward(Index units, const float* saved, const float* h_prev, const float* dh, float* dgates,
                          float* dh_prev) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    const Vector z = block.load(saved, 1), upstream = block.load(dh);
    const auto [dz, dn] = mix_backward(z, block.load(saved, 2), block.load(h_prev), upstream);
    block.store(dz, dgates, 1);
    block.store(dn, dgates, 2);
    if (dh_prev != nullptr) block.store(hn::Mul(upstream, z), dh_prev);
  }
}

void GruResetRowBackward(Index units, const float* saved, const float* h_prev, const float* dreset_h, float* dgates,
                         float* dh_prev) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    const Vector r = block.load(saved, 0), upstream = block.load(dreset_h);
    block.store(hn::Mul(hn::Mul(upstream, block.load(h_prev)), sigmoid_slope(r)), dgates, 0);
    if (dh_prev != nullptr) block.store(hn::MulAdd(upstream, r, block.load(dh_prev)), dh_prev);
  }
}

void LstmRow(Index units, const float* gates_x, const float* gates_h, const float* peepholes, const float* c_prev,
             float* h, float* c, float* saved) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    const Vector before = block.load(c_prev);
    const Vector a_i = hn::Add(block.load(gates_x, 0), block.load_or_zero(gates_h, 0));
    const Vector a_f = hn::Add(block.load(gates_x, 1), block.load_or_zero(gates_h, 1));
    const Vector a_g = hn::Add(block.load(gates_x, 2), block.load_or_zero(gates_h, 2));
    const Vector a_o = hn::Add(block.load(gates_x, 3), block.load_or_zero(gates_h, 3));
    const Vector i = sigmoid(d, add_peephole(block, peepholes, 0, before, a_i));
    const Vector f = sigmoid(d, add_peephole(block, peepholes, 1, before, a_f));
    const Vector g = tanh(d, a_g);
    const Vector after = hn::MulAdd(f, before, hn::Mul(i, g));
    const Vector o = sigmoid(d, add_peephole(block, peepholes, 2, after, a_o));
    const Vector t = tanh(d, after);
    block.store(after, c);
    block.store(hn::Mul(o, t), h);
    if (saved == nullptr) continue;
    block.store(i, saved, 0);
    block.store(f, saved, 1);
    block.store(g, saved, 2);
    block.store(o, saved, 3);
    block.store(t, saved, 4);
  }
}

void LstmRowBackward(Index units, const float* saved, const float* peepholes, const float* c_prev, const float* dh,
                     const float* dc, float* dgates, float* dc_prev) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    const Vector i = block.load(saved, 0), f = block.load(saved, 1), g = block.load(saved, 2), o = block.load(saved, 3);
    const Vector t = block.load(saved, 4), upstream = block.load_or_zero(dh);
    const Vector d_o = hn::Mul(hn::Mul(upstream, t), sigmoid_slope(o));
    Vector d_c = hn::MulAdd(hn::Mul(upstream, o), tanh_slope(t), block.load_or_zero(dc));
    d_c = add_peephole(block, peepholes, 2, d_o, d_c);
    const Vector d_i = hn::Mul(hn::Mul(d_c, g), sigmoid_slope(i));
    const Vector d_f = hn::Mul(hn::Mul(d_c, block.load(c_prev)), sigmoid_slope(f));
    const Vector d_g = hn::Mul(hn::Mul(d_c, i), tanh_slope(g));
    block.store(d_i, dgates, 0);
    block.store(d_f, dgates, 1);
    block.store(d_g, dgates, 2);
    block.store(d_o, dgates, 3);
    if (dc_prev == nullptr) continue;
    const Vector through_i = add_peephole(block, peepholes, 0, d_i, hn::Mul(d_c, f));
    block.store(add_peephole(block, peepholes, 1, d_f, through_i), dc_prev);
  }
}

void RnnRow(Index units, const float* gates_x, const float* gates_h, float* h) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    block.store(tanh(d, hn::Add(block.load(gates_x), block.load_or_zero(gates_h))), h);
  }
}

void RnnRowBackward(Index units, const float* h, const float* dh, float* dgates) {
  const Lanes32 d;
  UnitBlock block{static_cast<std::size_t>(units), 0};
  for (; block.first < block.units; block.first += hn::Lanes(d)) {
    block.store(hn::Mul(block.load(dh), tanh_slope(block.load(h))), dgates);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(GruRow);
HEED_EXPORT(GruRowBackward);
HEED_EXPORT(GruResetRow);
HEED_EXPORT(GruUpdateRow);
HEED_EXPORT(GruUpdateRowBackward);
HEED_EXPORT(GruResetRowBackward);
HEED_EXPORT(LstmRow);
HEED_EXPORT(LstmRowBackward);
HEED_EXPORT(RnnRow);
HEED_EXPORT(RnnRowBackward);

void gru_row(Index units, const float* gates_x, const float* gates_h, const float* h_prev, float* h, float* saved) {
  HEED_DISPATCH(GruRow)(units, gates_x, gates_h, h_prev, h, saved);
}

void gru_row_backward(Index units, const float* saved, const float* h_prev, const float* dh, float* dgates_x,
                      float* dgates_h, float* dh_prev) {
  HEED_DISPATCH(GruRowBackward)(units, saved, h_prev, dh, dgates_x, dgates_h, dh_prev);
}

void gru_reset_row(Index units, const float* gates_x, const float* gates_h, const float* h_prev, float* reset_h,
                   float* saved) {
  HEED_DISPATCH(GruResetRow)(units, gates_x, gates_h, h_prev, reset_h, saved);
}

void gru_update_row(Index units, const float* gates_x, const float* candidate_h, const float* h_prev, float* h,
                    float* saved) {
  HEED_DISPATCH(GruUpdateRow)(units, gates_x, candidate_h, h_prev, h, saved);
}

void gru_update_row_backward(Index units, const float* saved, const float* h_prev, const float* dh, float* dgates,
                             float* dh_prev) {
  HEED_DISPATCH(GruUpdateRowBackward)(units, saved, h_prev, dh, dgates, dh_prev);
}

void gru_reset_row_backward(Index units, const float* saved, const float* h_prev, const float* dreset_h, float* dgates,
                            float* dh_prev) {
  HEED_DISPATCH(GruResetRowBackward)(units, saved, h_prev, dreset_h, dgates, dh_prev);
}

void lstm_row(Index units, const float* gates_x, const float* gates_h, const float* peepholes, const float* c_prev,
              float* h, float* c, float* saved) {
  HEED_DISPATCH(LstmRow)(units, gates_x, gates_h, peepholes, c_prev, h, c, saved);
}

void lstm_row_backward(Index units, const float* saved, const float* peepholes, const float* c_prev, const float* dh,
                       const float* dc, float* dgates, float* dc_prev) {
  HEED_DISPATCH(LstmRowBackward)(units, saved, peepholes, c_prev, dh, dc, dgates, dc_prev);
}

void rnn_row(Index units, const float* gates_x, const float* gates_h, float* h) {
  HEED_DISPATCH(RnnRow)(units, gates_x, gates_h, h);
}

void rnn_row_backward(Index units, const float* h, const float* dh, float* dgates) {
  HEED_DISPATCH(RnnRowBackward)(units, h, dh, dgates);
}

}  // namespace heed::kernels
#endif
