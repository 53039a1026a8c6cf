// GatedDeltaRule.
#include "heed/ops/gated_delta/gated_delta_rule.h"

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "operators.h"

namespace heed::conformance {
namespace {

enum LinearAttentionInput : Index { kPastState = kValue + 1, kDecay, kBeta, kEraseGate };

// [B, L, H * D] as [B, H, L, D].
View heads_of(const Case& c, Index input, Index heads) {
  const Tensor tensor = as_tensor(c.input(input), c.input_name(input));
  HEED_CHECK(tensor.rank() == 3, "{} must be [B, L, H * D], but has the shape {}", c.input_name(input),
             text_of(c.input(input).shape));
  return split_heads(tensor.view(), heads);
}

// A rule takes its own inputs, no others.
void check_rule(const Case& c) {
  const std::string rule = c.string("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  HEED_CHECK(gated || delta || rule == "linear", "update_rule must be linear, gated, delta or gated_delta, but is {}",
             printable(rule));
  HEED_CHECK(c.has(kDecay) == gated && c.has(kBeta) == delta && (delta || !c.has(kEraseGate)),
             "the rule {} takes {} decay and {} beta", rule, gated ? "a" : "no", delta ? "a" : "no");
}

}  // namespace

// chunk_size is about speed only.
Outputs run_linear_attention(const Case& c) {
  c.allow_attributes({"chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule"});
  check_rule(c);
  const Index heads = c.integer("q_num_heads", 0, 1), kv_heads = c.integer("kv_num_heads", 0, 1);
  GatedDeltaRule x{
      .q = heads_of(c, kQuery, heads), .k = heads_of(c, kKey, kv_heads), .v = heads_of(c, kValue, kv_heads)};
  const Index batch = x.q.shape[0], length = x.q.shape[2], value_width = x.v.shape[3];
  // [B, L, Hk] as [B, Hk, L]; one number may stand for all heads.
  const Array beta = c.has(kBeta) ? broadcast(c.input(kBeta), {batch, length, kv_heads}) : Array();
  if (c.has(kBeta)) x.beta = transpose(as_tensor(beta, "beta").view(), 1, 2);
  if (c.has(kDecay)) {
    const bool for_all = !c.input(kDecay).shape.empty() && c.input(kDecay).shape.back() == kv_heads;
    const View by_head = heads_of(c, kDecay, kv_heads);
    x.decay = for_all ? select(by_head, 3, 0) : by_head;
  }
  if (c.has(kEraseGate)) x.erase = heads_of(c, kEraseGate, kv_heads);
  if (c.has(kPastState)) x.state = as_tensor(c.input(kPastState), "past_state").view();
  if (const double scale = c.number("scale", 0); scale != 0) x.scale = scale;
  const Array out = make_array(x.q.dtype, {batch, length, heads * value_width});
  const Array state =
      make_array(c.has(kPastState) ? x.state.dtype : x.q.dtype, {batch, kv_heads, x.k.shape[3], value_width});
  Workspace workspace;
  gated_delta_rule(x, {.out = split_heads(as_tensor(out, "out").view(), heads), .state = as_tensor(state, "state")},
                   workspace);
  return {out, state};
}

}  // namespace heed::conformance
