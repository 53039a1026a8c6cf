#include "heed/autograd/recurrent.h"

#include "heed/autograd/record.h"
#include "heed/base/check.h"
#include "heed/ops/gemm.h"
#include "heed/ops/linear.h"
#include "heed/ops/recurrent.h"

namespace heed {
namespace {

// What a cell keeps for its backward, which only a tape will run.
Tensor saved_for(const Context& context, const Var& state, Index per_unit) {
  if (context.tape == nullptr) return {};
  return Tensor::empty(state.dtype(), {state.dim(0), per_unit * state.dim(1)});
}

View rows_or_none(const View& view, Index begin, Index end) { return view ? slice(view, 0, begin, end) : View(); }

// Copies zeros over what lies behind each sentence's end.
void clear_padding(const Tensor& x, const Tensor& lengths) {
  for (Index b = 0; b < x.dim(0); ++b) {
    const Index length = lengths.data<std::int32_t>()[b];
    if (length < x.dim(1)) fill(slice(select(x.view(), 0, b), 0, length, x.dim(1)), 0);
  }
}

}  // namespace

Var rnn_cell(const Context& context, const Var& gates_x, const Var& gates_h, const Var& h_prev, const Tensor& active) {
  Tensor h = Tensor::empty_like(h_prev.value().view());
  rnn_cell({.gates_x = gates_x, .gates_h = gates_h, .h_prev = h_prev, .active = active}, h);
  return record(context, h, {gates_x, gates_h, h_prev}, [=](const Tensor& dh) {
    const Tensor dgates = Tensor::empty_like(gates_x.value().view());
    const Tensor dh_prev = active.is_empty() ? Tensor() : h_prev.new_grad();
    rnn_cell_backward({.gates_x = {}, .gates_h = {}, .h_prev = {}, .active = active}, h, dh,
                      {.dgates = dgates, .dh_prev = dh_prev});
    gates_x.add_grad(dgates);
    gates_h.add_grad(dgates);
    h_prev.add_grad(dh_prev);
  });
}

Var gru_cell(const Context& context, const Var& gates_x, const Var& gates_h, const Var& h_prev, const Tensor& active) {
  Tensor h = Tensor::empty_like(h_prev.value().view());
  const Tensor saved = saved_for(context, h_prev, kGruSaved);
  gru_cell({gates_x, gates_h, h_prev, active}, h, saved);
  return record(context, h, {gates_x, gates_h, h_prev}, [=](const Tensor& dh) {
    const Tensor dgates_x = Tensor::empty_like(gates_x.value().view());
    const Tensor dgates_h = Tensor::empty_like(gates_h.value().view());
    const Tensor dh_prev = h_prev.new_grad();
    gru_cell_backward({.gates_x = {}, .gates_h = {}, .h_prev = h_prev, .active = active}, saved, dh,
                      {dgates_x, dgates_h, dh_prev});
    gates_x.add_grad(dgates_x);
    gates_h.add_grad(dgates_h);
    h_prev.add_grad(dh_prev);
  });
}

Var gru_reset_first_cell(const Context& context, const Var& gates_x, const Var& h_prev, const Var& weight_hh,
                         const Var& bias_hh, const Tensor& active) {
  // Rows of the weight: those of the reset and update gates, then those of the candidate.
  const Index units = h_prev.dim(1), gates = 2 * units, all = 3 * units;
  check_trains("gru_reset_first_cell", context, weight_hh);
  const Weight weight = weight_hh;
  const View bias = bias_hh.value();
  const Tensor gates_h = Tensor::empty(h_prev.dtype(), {h_prev.dim(0), gates});
  const Tensor reset_h = Tensor::empty_like(h_prev.value().view()), candidate_h = Tensor::empty_like(reset_h.view());
  const Tensor saved = Tensor::empty(h_prev.dtype(), {h_prev.dim(0), kGruResetSaved * units});
  Tensor h = Tensor::empty_like(reset_h.view());
  const GruStep step{gates_x, gates_h, h_prev, active};
  linear(h_prev, weight.rows(0, gates), slice(bias, 0, 0, gates), gates_h);
  gru_reset(step, reset_h, saved);
  linear(reset_h, weight.rows(gates, all), slice(bias, 0, gates, all), candidate_h);
  gru_update(step, candidate_h, h, saved);
  return record(context, h, {gates_x, h_prev, weight_hh, bias_hh}, [=](const Tensor& dh) {
    const GruStep backward_step{.gates_x = {}, .gates_h = {}, .h_prev = h_prev, .active = active};
    const Tensor dgates = Tensor::empty_like(gates_x.value().view());
    const Tensor dh_prev = Tensor::empty_like(reset_h.view()), dreset_h = Tensor::empty_like(reset_h.view());
    const View dgates_h = slice(dgates.view(), 1, 0, gates), dcandidate_h = slice(dgates.view(), 1, gates, all);
    const View dweight = weight_hh.grad_accumulator(), dbias = bias_hh.grad_accumulator();
    gru_update_backward(backward_step, saved, dh, {dgates, dh_prev});
    linear_backward(reset_h, weight.rows(gates, all).values, dcandidate_h, dreset_h, rows_or_none(dweight, gates, all),
                    rows_or_none(dbias, gates, all));
    gru_reset_backward(backward_step, saved, dreset_h, {dgates, dh_prev});
    linear_backward(h_prev, {}, dgates_h, {}, rows_or_none(dweight, 0, gates), rows_or_none(dbias, 0, gates));
    gemm(dgates_h, weight.rows(0, gates).values, dh_prev, {.accumulate = true});
    gates_x.add_grad(dgates);
    h_prev.add_grad(dh_prev);
  });
}

LstmState lstm_cell(const Context& context, const Var& gates_x, const Var& gates_h, const LstmState& previous,
                    const Var& peepholes, const Tensor& active) {
  const Tensor h = Tensor::empty_like(previous.h.value().view()), c = Tensor::empty_like(previous.c.value().view());
  const Tensor saved = saved_for(context, previous.h, kLstmSaved);
  const LstmStep step{gates_x, gates_h, previous.c, previous.h, peepholes, active};
  lstm_cell(step, h, c, saved);
  bool wanted = false;
  for (const Var& input : {gates_x, gates_h, previous.h, previous.c, peepholes})
    wanted = wanted || input.requires_grad();
  if (context.tape == nullptr || !wanted) return {Var(h), Var(c)};
  // record() is for operators with one output; this one's backward runs when a gradient has arrived at either.
  const LstmState next{Var::activation(h), Var::activation(c)};
  context.tape->record([=] {
    if (!next.h.has_grad() && !next.c.has_grad()) return;
    const Tensor dgates = Tensor::empty_like(gates_x.value().view()), dc_prev = previous.c.new_grad();
    const Tensor dh_prev = active.is_empty() ? Tensor() : previous.h.new_grad();
    const LstmStep backward_step{
        .gates_x = {}, .gates_h = {}, .c_prev = previous.c, .h_prev = {}, .peepholes = peepholes, .active = active};
    lstm_cell_backward(
        backward_step, next.c, saved, next.h.grad().view(), next.c.grad().view(),
        {.dgates = dgates, .dc_prev = dc_prev, .dh_prev = dh_prev, .dpeepholes = peepholes.grad_accumulator()});
    gates_x.add_grad(dgates);
    gates_h.add_grad(dgates);
    previous.c.add_grad(dc_prev);
    previous.h.add_grad(dh_prev);
    next.h.clear_grad();
    next.c.clear_grad();
  });
  return next;
}

std::vector<Var> split_time(const Context& context, const Var& x) {
  HEED_CHECK(x.rank() == 3, "split_time: x must be [B, L, D], but is {}", describe(x.value().view()));
  const bool wanted = context.tape != nullptr && x.requires_grad();
  std::vector<Var> steps;
  for (Index t = 0; t < x.dim(1); ++t) {
    const Tensor step = Tensor::copy_of(select(x.value().view(), 1, t));
    steps.push_back(wanted ? Var::activation(step) : Var(step));
  }
  if (!wanted) return steps;
  // Recorded before whatever reads the steps, so it runs when all of their gradients are there.
  context.tape->record([x, steps] {
    const Tensor dx = x.new_grad();
    for (Index t = 0; t < x.dim(1); ++t) {
      const View place = select(dx.view(), 1, t);
      if (steps[t].has_grad()) {
        copy(steps[t].grad().view(), place);
        steps[t].clear_grad();
      } else {
        fill(place, 0);
      }
    }
    x.add_grad(dx);
  });
  return steps;
}

Var zero_padding(const Context& context, const Var& x, const Tensor& lengths) {
  HEED_CHECK(x.rank() == 3 && lengths.rank() == 1 && lengths.dtype() == DType::i32 && lengths.dim(0) == x.dim(0),
             "zero_padding: needs x [B, L, D] and lengths i32 [B], but got {} and {}", describe(x.value().view()),
             describe(lengths.view()));
  Tensor y = x.value().clone();
  clear_padding(y, lengths);
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = dy.clone();
    clear_padding(dx, lengths);
    x.add_grad(dx);
  });
}

}  // namespace heed
