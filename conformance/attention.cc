// Attention.
#include "heed/ops/attention/attention.h"

#include <algorithm>
#include <limits>

#include "heed/base/check.h"
#include "operators.h"

namespace heed::conformance {
namespace {

enum AttentionInput : Index { kMask = kValue + 1, kPastKey, kPastValue, kLengths };
enum QkOutput : Index { kRaw, kCapped, kMasked, kWeights };  // qk_matmul_output_mode

// One call's operands, as views [B, heads, L, D].
class AttentionCall {
 public:
  explicit AttentionCall(const Case& c) : c_(c), packed_(c.input(kQuery).shape.size() == 3) {
    c.allow_attributes({"is_causal", "kv_num_heads", "left_window_size", "q_num_heads", "qk_matmul_output_mode",
                        "right_window_size", "scale", "softcap", "softmax_precision"});
    const DType type = c.input(kQuery).elements.dtype();
    native_ = c.input(kKey).elements.dtype() == type && c.input(kValue).elements.dtype() == type;
    q_ = heads(kQuery, "q_num_heads");
    past_ = c.has(kPastKey) ? heads(kPastKey, "").dim(2) : 0;
    k_ = present(kKey, kPastKey);
    v_ = present(kValue, kPastValue);
    new_keys_ = k_.dim(2) - past_;
  }

  Outputs run() const {
    const Index batch = q_.dim(0), heads = q_.dim(1), queries = q_.dim(2), width = v_.dim(3);
    const Index mode = c_.integer("qk_matmul_output_mode", kRaw, kRaw, kWeights);
    AttentionSpec spec{.score = Score::scaled_dot()};
    if (c_.has_attribute("scale")) spec.score = Score::scaled_dot(c_.number("scale", 1));
    if (const double cap = c_.number("softcap", 0); cap != 0) spec.bias.soft_cap = cap;
    const Tensor centre = positions(), given = given_mask();
    spec.mask = mask_of(centre, given);
    if (!given.is_empty() && given.dtype() != DType::boolean) spec.bias.dense = given;

    const Array out = make_array(
        q_.dtype(), packed_ ? Extents{batch, queries, heads * width} : Extents{batch, heads, queries, width});
    const Array qk = c_.wants(3) ? make_array(q_.dtype(), {batch, heads, queries, k_.dim(2)}) : Array();
    const Tensor out_tensor = as_tensor(out, "Y");
    AttentionResult result{.out = packed_ ? split_heads(out_tensor.view(), heads) : out_tensor.view()};
    if (c_.wants(3)) {
      (mode == kWeights ? result.weights : result.scores) = as_tensor(qk, "qk_matmul_output");
      result.score_stage = mode == kRaw ? ScoreStage::raw : mode == kCapped ? ScoreStage::capped : ScoreStage::masked;
    }
    Workspace workspace;
    attention(q_, k_, v_, spec, result, workspace);
    return {out, array_of(k_), array_of(v_), qk};
  }

 private:
  // An input as [B, heads, L, D], a copy; those of rank 3 are [B, L, heads * D].
  Tensor heads(Index input, std::string_view attribute) const {
    const Tensor tensor = as_tensor(native_ ? c_.input(input) : c_.real(input), c_.input_name(input));
    if (tensor.rank() == 3 && !attribute.empty()) {
      return Tensor::copy_of(split_heads(tensor.view(), c_.integer(attribute, 0, 1)));
    }
    HEED_CHECK(tensor.rank() == 4, "{} must be of rank 4, but has the shape {}", c_.input_name(input),
               text_of(c_.input(input).shape));
    return tensor;
  }

  // The past and the new rows, one after the other: what the operator calls present_key and present_value.
  Tensor present(Index input, Index past) const {
    const Tensor rows = heads(input, "kv_num_heads");
    if (!c_.has(past)) return rows;
    const Tensor before = heads(past, "");
    HEED_CHECK(before.dim(0) == rows.dim(0) && before.dim(1) == rows.dim(1) && before.dim(3) == rows.dim(3) &&
                   before.dtype() == rows.dtype(),
               "{} {} does not go before {} {}", c_.input_name(past), describe(before.view()), c_.input_name(input),
               describe(rows.view()));
    const Index kept = before.dim(2), length = kept + rows.dim(2);
    const Array all = make_array(rows.dtype(), {rows.dim(0), rows.dim(1), length, rows.dim(3)});
    const Tensor both = as_tensor(all, c_.input_name(input));
    copy(before, slice(both.view(), 2, 0, kept));
    copy(rows, slice(both.view(), 2, kept, length));
    return both;
  }

  // attn_mask as [B|1, H|1, Lq|1, Lk]; keys beyond its last axis are refused.
  Tensor given_mask() const {
    if (!c_.has(kMask)) return {};
    const bool boolean = c_.input(kMask).elements.dtype() == DType::boolean;
    Array mask = boolean ? c_.input(kMask) : c_.real(kMask);
    HEED_CHECK(!mask.shape.empty() && mask.shape.size() <= 4 && mask.shape.back() <= k_.dim(2),
               "attn_mask {} does not fit {} keys", text_of(mask.shape), k_.dim(2));
    while (mask.shape.size() < 4) mask.shape.insert(mask.shape.begin(), 1);
    const Tensor stated = as_tensor(mask, "attn_mask");
    mask.shape.back() = k_.dim(2);
    const Tensor whole = as_tensor(make_array(stated.dtype(), mask.shape), "attn_mask");
    fill(whole, boolean ? 0 : -std::numeric_limits<double>::infinity());
    copy(stated, slice(whole.view(), 3, 0, stated.dim(3)));
    return whole;
  }

  bool causal() const { return c_.integer("is_causal", 0) != 0; }
  std::optional<Index> window(std::string_view side) const {
    const Index size = c_.integer(side, -1);
    return size < 0 ? std::nullopt : std::optional(size);
  }

  // Query i stands at the key past + i. Where that is neither the first nor the last place among the keys, the places
  // are given: i64 [1, 1, Lq].
  Tensor positions() const {
    if (!c_.has(kPastKey) || new_keys_ == q_.dim(2)) return {};
    const Tensor places = Tensor::empty(DType::i64, {1, 1, q_.dim(2)});
    for (Index i = 0; i < q_.dim(2); ++i) places.at<std::int64_t>({0, 0, i}) = past_ + i;
    return places;
  }

  Mask mask_of(const Tensor& centre, const Tensor& given) const {
    Mask mask;
    if (c_.has(kLengths)) mask = Mask::key_lengths(c_.input(kLengths).elements);
    if (!given.is_empty() && given.dtype() == DType::boolean) mask = mask & Mask::boolean(given);
    Window bounds{.left = window("left_window_size"), .right = window("right_window_size"), .centre = centre};
    if (causal()) bounds.right = 0;
    if (bounds.left || bounds.right) {
      mask.window = bounds;
      mask.anchor = c_.has(kPastKey) ? Anchor::end : c_.has(kLengths) ? Anchor::length : Anchor::start;
    }
    return mask;
  }

  static Array array_of(const Tensor& t) { return with_shape(t, {t.dim(0), t.dim(1), t.dim(2), t.dim(3)}); }

  const Case& c_;
  bool packed_;
  bool native_ = true;  // q, k and v have one type, which heed takes as it is
  Index past_ = 0, new_keys_ = 0;
  Tensor q_, k_, v_;
};

}  // namespace

// softmax_precision names the least precise type that the softmax may be computed in; heed's is f32 or wider.
Outputs run_attention(const Case& c) { return AttentionCall(c).run(); }

}  // namespace heed::conformance
