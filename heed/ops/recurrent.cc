#include "heed/ops/recurrent.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/kernels/elementwise.h"
#include "heed/ops/recurrent_rows.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

constexpr Index kUnitsPerTask = 4096;

// A matrix that a step takes, as wide as `parts` times the number of units.
struct Matrix {
  std::string_view name;
  ConstView view;
  Index parts;
  bool optional = false;
};

// Checks the shapes of all matrices against `like` [B, H].
void check_step(std::string_view function, const ConstView& like, const ConstView& active,
                std::initializer_list<Matrix> matrices) {
  const bool floating = like.dtype == DType::f32 || like.dtype == DType::f64;
  HEED_CHECK(!like.empty() && like.rank == 2 && floating, "{}: the state must be f32 or f64 [B, H], but is {}",
             function, describe(like));
  const Index batch = like.shape[0], units = like.shape[1];
  for (const Matrix& matrix : matrices) {
    if (matrix.optional && matrix.view.empty()) continue;
    const Index width = matrix.parts * units;
    const ConstView& view = matrix.view;
    HEED_CHECK(!view.empty() && view.rank == 2 && view.shape[0] == batch && view.shape[1] == width &&
                   view.dtype == like.dtype && (view.stride[1] == 1 || width <= 1),
               "{}: {} must be {} [{}, {}] with stride 1 along the last axis, but is {}", function, matrix.name,
               name_of(like.dtype), batch, width, view.empty() ? "empty" : describe(view));
  }
  HEED_CHECK(active.empty() || (active.rank == 1 && active.shape[0] == batch && active.dtype == DType::boolean),
             "{}: active must be boolean [{}], but is {}", function, batch, describe(active));
}

void check_peepholes(std::string_view function, std::string_view name, const ConstView& peepholes,
                     const ConstView& like) {
  HEED_CHECK(peepholes.empty() || (peepholes.rank == 1 && peepholes.shape[0] == 3 * like.shape[1] &&
                                   peepholes.contiguous() && peepholes.dtype == like.dtype),
             "{}: {} must be a contiguous {} [{}], but is {}", function, name, name_of(like.dtype), 3 * like.shape[1],
             describe(peepholes));
}

bool is_active(const ConstView& active, Index row) {
  return active.empty() || active.as<std::uint8_t>()[row * active.stride[0]] != 0;
}

// Row b of a matrix; null where the view is empty.
template <typename T>
const T* row(const ConstView& view, Index b) {
  return view.empty() ? nullptr : view.as<T>() + b * view.stride[0];
}
template <typename T>
T* row(const View& view, Index b) {
  return view.empty() ? nullptr : view.as<T>() + b * view.stride[0];
}

// Row b of `to` becomes that of `from`, or zero where `from` is empty; nothing where `to` is empty.
template <typename T>
void carry(const ConstView& from, const View& to, Index b) {
  T* target = row<T>(to, b);
  const T* source = row<T>(from, b);
  if (target == nullptr || target == source) return;
  if (source == nullptr) {
    std::fill_n(target, to.shape[1], T{0});
  } else {
    std::copy_n(source, to.shape[1], target);
  }
}

// Runs body<float>(b) or body<double>(b) for every row of `like` [B, H].
template <typename Body>
void for_each_row(const ConstView& like, const Body& body) {
  const Index grain = std::max<Index>(1, kUnitsPerTask / std::max<Index>(1, like.shape[1]));
  parallel_for(like.shape[0], grain, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      if (like.dtype == DType::f32) {
        body.template operator()<float>(b);
      } else {
        body.template operator()<double>(b);
      }
    }
  });
}

void add_product(const float* a, const float* b, float* y, Index n) {
  kernels::add_product(a, b, y, static_cast<std::size_t>(n));
}
void add_product(const double* a, const double* b, double* y, Index n) {
  for (Index j = 0; j < n; ++j) y[j] += a[j] * b[j];
}

// dpeepholes += the sums over the batch of (di c_prev, df c_prev, do c), rows in order.
template <typename T>
void accumulate_peepholes(const LstmStep& step, ConstView c, ConstView dgates, View dpeepholes) {
  const Index batch = c.shape[0], units = c.shape[1];
  constexpr Index kGates[] = {0, 1, 3};  // i, f, o among (i, f, g, o)
  parallel_for(units, kColumnsPerTask, [&](Index begin, Index end) {
    for (Index part = 0; part < 3; ++part) {
      T* sum = dpeepholes.as<T>() + part * units + begin;
      for (Index b = 0; b < batch; ++b) {
        if (!is_active(step.active, b)) continue;
        const T* state = row<T>(part < 2 ? step.c_prev : c, b) + begin;
        add_product(row<T>(dgates, b) + kGates[part] * units + begin, state, sum, end - begin);
      }
    }
  });
}

}  // namespace

void gru_cell(const GruStep& step, View h, View saved) {
  check_operands("gru_cell", {{"gates_x", step.gates_x}, {"gates_h", step.gates_h}, {"active", step.active, kOptional}},
                 {{"h", h}, {"saved", saved, kOptional}}, {{"h_prev", step.h_prev}});
  check_step("gru_cell", h, step.active,
             {{"gates_x", step.gates_x, 3},
              {"gates_h", step.gates_h, 3},
              {"h_prev", step.h_prev, 1},
              {"h", h, 1},
              {"saved", saved, kGruSaved, true}});
  for_each_row(h, [&]<typename T>(Index b) {
    if (!is_active(step.active, b)) return carry<T>(step.h_prev, h, b);
    gru_row(h.shape[1], row<T>(step.gates_x, b), row<T>(step.gates_h, b), row<T>(step.h_prev, b), row<T>(h, b),
            row<T>(saved, b));
  });
}

void gru_cell_backward(const GruStep& step, ConstView saved, ConstView dh, const GruStepGrad& grad) {
  check_operands("gru_cell_backward", {{"h_prev", step.h_prev}, {"saved", saved}, {"active", step.active, kOptional}},
                 {{"dgates_x", grad.dgates_x}, {"dgates_h", grad.dgates_h}, {"dh_prev", grad.dh_prev, kOptional}},
                 {{"dh", dh}});
  check_step("gru_cell_backward", dh, step.active,
             {{"h_prev", step.h_prev, 1},
              {"saved", saved, kGruSaved},
              {"dh", dh, 1},
              {"dgates_x", grad.dgates_x, 3},
              {"dgates_h", grad.dgates_h, 3},
              {"dh_prev", grad.dh_prev, 1, true}});
  for_each_row(dh, [&]<typename T>(Index b) {
    if (!is_active(step.active, b)) {
      carry<T>(ConstView(), grad.dgates_x, b);
      carry<T>(ConstView(), grad.dgates_h, b);
      return carry<T>(dh, grad.dh_prev, b);
    }
    gru_row_backward(dh.shape[1], row<T>(saved, b), row<T>(step.h_prev, b), row<T>(dh, b), row<T>(grad.dgates_x, b),
                     row<T>(grad.dgates_h, b), row<T>(grad.dh_prev, b));
  });
}

void gru_reset(const GruStep& step, View reset_h, View saved) {
  check_operands("gru_reset",
                 {{"gates_x", step.gates_x},
                  {"gates_h", step.gates_h},
                  {"h_prev", step.h_prev},
                  {"active", step.active, kOptional}},
                 {{"reset_h", reset_h}, {"saved", saved}});
  check_step("gru_reset", reset_h, step.active,
             {{"gates_x", step.gates_x, 3},
              {"gates_h", step.gates_h, 2},
              {"h_prev", step.h_prev, 1},
              {"reset_h", reset_h, 1},
              {"saved", saved, kGruResetSaved}});
  for_each_row(reset_h, [&]<typename T>(Index b) {
    if (!is_active(step.active, b)) return carry<T>(ConstView(), reset_h, b);
    gru_reset_row(reset_h.shape[1], row<T>(step.gates_x, b), row<T>(step.gates_h, b), row<T>(step.h_prev, b),
                  row<T>(reset_h, b), row<T>(saved, b));
  });
}

void gru_update(const GruStep& step, ConstView candidate_h, View h, View saved) {
  check_operands("gru_update",
                 {{"gates_x", step.gates_x}, {"candidate_h", candidate_h}, {"active", step.active, kOptional}},
                 {{"h", h}, {"saved", saved}}, {{"h_prev", step.h_prev}});
  check_step("gru_update", h, step.active,
             {{"gates_x", step.gates_x, 3},
              {"candidate_h", candidate_h, 1},
              {"h_prev", step.h_prev, 1},
              {"h", h, 1},
              {"saved", saved, kGruResetSaved}});
  for_each_row(h, [&]<typename T>(Index b) {
    if (!is_active(step.active, b)) return carry<T>(step.h_prev, h, b);
    gru_update_row(h.shape[1], row<T>(step.gates_x, b), row<T>(candidate_h, b), row<T>(step.h_prev, b), row<T>(h, b),
                   row<T>(saved, b));
  });
}

void gru_update_backward(const GruStep& step, ConstView saved, ConstView dh, const GruResetGrad& grad) {
  check_operands("gru_update_backward", {{"h_prev", step.h_prev}, {"saved", saved}, {"active", step.active, kOptional}},
                 {{"dgates", grad.dgates}, {"dh_prev", grad.dh_prev, kOptional}}, {{"dh", dh}});
  check_step("gru_update_backward", dh, step.active,
             {{"h_prev", step.h_prev, 1},
              {"saved", saved, kGruResetSaved},
              {"dh", dh, 1},
              {"dgates", grad.dgates, 3},
              {"dh_prev", grad.dh_prev, 1, true}});
  for_each_row(dh, [&]<typename T>(Index b) {
    if (!is_active(step.active, b)) {
      carry<T>(ConstView(), grad.dgates, b);
      return carry<T>(dh, grad.dh_prev, b);
    }
    gru_update_row_backward(dh.shape[1], row<T>(saved, b), row<T>(step.h_prev, b), row<T>(dh, b),
                            row<T>(grad.dgates, b), row<T>(grad.dh_prev, b));
  });
}

void gru_reset_backward(const GruStep& step, ConstView saved, ConstView dreset_h, const GruResetGrad& grad) {
  check_operands(
      "gru_reset_backward",
      {{"h_prev", step.h_prev}, {"saved", saved}, {"dreset_h", dreset_h}, {"active", step.active, kOptional}},
      {{"dgates", grad.dgates}, {"dh_prev", grad.dh_prev, kOptional}});
  check_step("gru_reset_backward", dreset_h, step.active,
             {{"h_prev", step.h_prev, 1},
              {"saved", saved, kGruResetSaved},
              {"dreset_h", dreset_h, 1},
              {"dgates", grad.dgates, 3},
              {"dh_prev", grad.dh_prev, 1, true}});
  const Index units = dreset_h.shape[1];
  for_each_row(dreset_h, [&]<typename T>(Index b) {
    // gru_update_backward has cleared the gates of the other rows.
    if (!is_active(step.active, b)) return;
    gru_reset_row_backward(units, row<T>(saved, b), row<T>(step.h_prev, b), row<T>(dreset_h, b), row<T>(grad.dgates, b),
                           row<T>(grad.dh_prev, b));
  });
}

void lstm_cell(const LstmStep& step, View h, View c, View saved) {
  check_operands("lstm_cell",
                 {{"gates_x", step.gates_x},
                  {"gates_h", step.gates_h, kOptional},
                  {"peepholes", step.peepholes, kOptional},
                  {"active", step.active, kOptional}},
                 {{"h", h}, {"c", c}, {"saved", saved, kOptional}},
                 {{"c_prev", step.c_prev}, {"h_prev", step.h_prev, kOptional}});
  check_apart("lstm_cell", {"c", c}, {"h_prev", step.h_prev});
  check_apart("lstm_cell", {"h", h}, {"c_prev", step.c_prev});
  check_step("lstm_cell", h, step.active,
             {{"gates_x", step.gates_x, 4},
              {"gates_h", step.gates_h, 4, true},
              {"c_prev", step.c_prev, 1},
              {"h_prev", step.h_prev, 1, step.active.empty()},
              {"h", h, 1},
              {"c", c, 1},
              {"saved", saved, kLstmSaved, true}});
  check_peepholes("lstm_cell", "peepholes", step.peepholes, h);
  for_each_row(h, [&]<typename T>(Index b) {
    if (!is_active(step.active, b)) {
      carry<T>(step.c_prev, c, b);
      return carry<T>(step.h_prev, h, b);
    }
    lstm_row(h.shape[1], row<T>(step.gates_x, b), row<T>(step.gates_h, b), step.peepholes.as<T>(),
             row<T>(step.c_prev, b), row<T>(h, b), row<T>(c, b), row<T>(saved, b));
  });
}

void lstm_cell_backward(const LstmStep& step, ConstView c, ConstView saved, ConstView dh, ConstView dc,
                        const LstmStepGrad& grad) {
  const char* name = "lstm_cell_backward";
  check_operands(name,
                 {{"c_prev", step.c_prev},
                  {"c", c, grad.dpeepholes.empty()},
                  {"saved", saved},
                  {"peepholes", step.peepholes, kOptional},
                  {"active", step.active, kOptional}},
                 {{"dgates", grad.dgates},
                  {"dc_prev", grad.dc_prev, kOptional},
                  {"dh_prev", grad.dh_prev, kOptional},
                  {"dpeepholes", grad.dpeepholes, kOptional}},
                 {{"dh", dh, kOptional}, {"dc", dc, kOptional}});
  check_apart(name, {"dc_prev", grad.dc_prev}, {"dh", dh});
  check_apart(name, {"dh_prev", grad.dh_prev}, {"dc", dc});
  check_step(name, dh.empty() ? dc : dh, step.active,
             {{"c_prev", step.c_prev, 1},
              {"c", c, 1, grad.dpeepholes.empty()},
              {"saved", saved, kLstmSaved},
              {"dh", dh, 1, true},
              {"dc", dc, 1, true},
              {"dgates", grad.dgates, 4},
              {"dc_prev", grad.dc_prev, 1, true},
              {"dh_prev", grad.dh_prev, 1, true}});
  check_peepholes(name, "peepholes", step.peepholes, step.c_prev);
  check_peepholes(name, "dpeepholes", grad.dpeepholes, step.c_prev);
  for_each_row(step.c_prev, [&]<typename T>(Index b) {
    if (!is_active(step.active, b)) {
      carry<T>(ConstView(), grad.dgates, b);
      carry<T>(dc, grad.dc_prev, b);
      return carry<T>(dh, grad.dh_prev, b);
    }
    lstm_row_backward(step.c_prev.shape[1], row<T>(saved, b), step.peepholes.as<T>(), row<T>(step.c_prev, b),
                      row<T>(dh, b), row<T>(dc, b), row<T>(grad.dgates, b), row<T>(grad.dc_prev, b));
    carry<T>(ConstView(), grad.dh_prev, b);
  });
  if (grad.dpeepholes.empty()) return;
  if (c.dtype == DType::f32) return accumulate_peepholes<float>(step, c, grad.dgates, grad.dpeepholes);
  accumulate_peepholes<double>(step, c, grad.dgates, grad.dpeepholes);
}

void rnn_cell(const RnnStep& step, View h) {
  check_operands("rnn_cell",
                 {{"gates_x", step.gates_x}, {"gates_h", step.gates_h, kOptional}, {"active", step.active, kOptional}},
                 {{"h", h}}, {{"h_prev", step.h_prev, kOptional}});
  check_step("rnn_cell", h, step.active,
             {{"gates_x", step.gates_x, 1},
              {"gates_h", step.gates_h, 1, true},
              {"h_prev", step.h_prev, 1, step.active.empty()},
              {"h", h, 1}});
  for_each_row(h, [&]<typename T>(Index b) {
    if (!is_active(step.active, b)) return carry<T>(step.h_prev, h, b);
    rnn_row(h.shape[1], row<T>(step.gates_x, b), row<T>(step.gates_h, b), row<T>(h, b));
  });
}

void rnn_cell_backward(const RnnStep& step, ConstView h, ConstView dh, const RnnStepGrad& grad) {
  check_operands("rnn_cell_backward", {{"h", h}, {"active", step.active, kOptional}},
                 {{"dgates", grad.dgates}, {"dh_prev", grad.dh_prev, kOptional}}, {{"dh", dh}});
  check_step("rnn_cell_backward", dh, step.active,
             {{"h", h, 1}, {"dh", dh, 1}, {"dgates", grad.dgates, 1}, {"dh_prev", grad.dh_prev, 1, true}});
  for_each_row(dh, [&]<typename T>(Index b) {
    if (!is_active(step.active, b)) {
      // First the copy: dgates may be dh.
      carry<T>(dh, grad.dh_prev, b);
      return carry<T>(ConstView(), grad.dgates, b);
    }
    rnn_row_backward(dh.shape[1], row<T>(h, b), row<T>(dh, b), row<T>(grad.dgates, b));
    carry<T>(ConstView(), grad.dh_prev, b);
  });
}

}  // namespace heed
