// The plan "decode-int8": keys and values of int8 with f32 queries, in whole numbers. It is the only plan of its order,
// and so takes any number of queries. The matrix of scores is that of the plan "fused", in f32.
#include "heed/kernels/byte_rows.h"
#include "heed/ops/attention/plans/byte_row_products.h"
#include "heed/ops/attention/plans/decode_rows.h"
#include "heed/ops/attention/plans/fused.h"

namespace heed {
namespace {

void decode_int8_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  AttentionResult rows{.out = result.out, .row_stat = result.row_stat};
  if (result.weights && !rows.row_stat) {
    rows.row_stat = make_view(workspace.take<float>(c.batch * c.heads * c.queries), {c.batch, c.heads, c.queries});
  }
  decode_rows<ByteRowProducts>(c, rows, workspace);
  if (result.weights) decode_weights<ByteRowProducts>(c, rows.row_stat, {}, result.weights, workspace);
  if (result.scores) {
    kFusedPlan.forward(c, {.scores = result.scores, .score_stage = result.score_stage}, workspace);
  }
}

std::string_view decode_int8_why_not(const AttentionProblem& c, const AttentionTask& task) {
  if (c.k.view().dtype != DType::i8 || !c.v || c.v.view().dtype != DType::i8) return "keys and values are not all int8";
  if (c.spec.score.kind != Score::Kind::dot) return "the score is no dot product";
  if (c.spec.normaliser.kind != Normaliser::Kind::softmax) return "the normaliser is no softmax";
  if (c.width > kernels::kMostByteWidth) return "rows are too wide for sums of 32 bits";
  if (kernels::byte_units().empty()) return "no unit of this processor multiplies bytes";
  return kFusedPlan.why_not(c, task);
}

}  // namespace

const AttentionPlan kDecodeInt8Plan{"decode-int8",
                                    SumOrder::whole,
                                    decode_int8_why_not,
                                    pair_cost,
                                    decode_int8_forward,
                                    nullptr,
                                    decode_weights<ByteRowProducts>};

}  // namespace heed
