// Every operator of this room, called with each of its views spoilt: see complaints_about_bad_views.
#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/double_backward.h"
#include "heed/ops/attention/linear_step.h"
#include "heed/ops/attention/merge.h"
#include "heed/ops/attention/paged_cache.h"
#include "heed/ops/attention/tensor_scatter.h"
#include "heed/ops/gated_delta/gated_delta_rule.h"
#include "heed/ops/rotary/rotary.h"
#include "heed/testing/operator_call.h"

namespace heed {
namespace {

using testing::CallView;
using testing::CallViews;
using testing::OperatorCall;
using enum testing::ViewPart;

// B: batch; H, G: heads and key heads; L, K: queries and keys; D, V: widths, and E half of D; M: random features;
// R: buckets; T, C: tiles of 2 down and across; one packed row (Y) of S queries and Z keys of N sequences, with O
// offsets; P pages of A keys in a pool, of which a sequence has Q.
const testing::Extents kExtents{{'B', 2}, {'H', 4}, {'G', 2}, {'L', 3}, {'K', 5}, {'D', 8}, {'V', 6},
                                {'E', 4}, {'M', 3}, {'R', 8}, {'T', 2}, {'C', 3}, {'Y', 1}, {'S', 5},
                                {'Z', 7}, {'N', 2}, {'O', 3}, {'P', 5}, {'A', 2}, {'Q', 3}};

CallView integers(std::string name, std::string axes, std::vector<Index> values = {}) {
  return {name, axes, optional, DType::i32, 0, std::move(values)};
}

using Views = std::vector<CallView>;
Views operator+(Views a, const Views& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Views operands(DType type) {
  return {{"q", "BHLD", read, type}, {"k", "BGKD", read, type}, {"v", "BGKV", optional, type}};
}
Views results(DType type) {
  return {{"out", "BHLV", wanted, type},
          {"row_stat", "BHL", wanted, type},
          {"weights", "BHLK", wanted, type},
          {"scores", "BHLK", wanted, type}};
}
Views saved(DType type) {
  return {{"v", "BGKV", read, type},
          {"out", "BHLV", read, type},
          {"row_stat", "BHL", read, type},
          {"dout", "BHLV", read, type},
          {"drow_stat", "BHL", optional, type}};
}
Views gradients(DType type) {
  return {{"dq", "BHLD", wanted, type}, {"dk", "BGKD", wanted, type}, {"dv", "BGKV", wanted, type}};
}

// What a call is given to own lies in the test's memory.
Tensor own(const View& view) { return Tensor::borrow(view); }

// A forward call, a backward call, the weights and the plan of one kind of attention: what beside q, k and v is read,
// and the spec that is made of it.
void add_calls(std::vector<OperatorCall>& calls, DType type, const Views& more, const std::string& may_be_empty,
               const std::function<AttentionSpec(const View* more)>& spec) {
  const std::size_t n = more.size();
  calls.push_back({"attention", operands(type) + more + results(type),
                   [=](const CallViews& v) {
                     Workspace workspace;
                     const View* r = &v[3 + n];
                     attention(v[0], v[1], v[2], spec(&v[3]),
                               {.out = r[0], .row_stat = r[1], .weights = r[2], .scores = r[3]}, workspace);
                   },
                   may_be_empty});
  const Views q_k{{"q", "BHLD", read, type}, {"k", "BGKD", read, type}};
  calls.push_back({"attention_backward", q_k + more + saved(type) + gradients(type),
                   [=](const CallViews& v) {
                     Workspace workspace;
                     const View *s = &v[2 + n], *g = s + 5;
                     attention_backward(v[0], v[1], s[0], spec(&v[2]),
                                        {.out = s[1], .row_stat = s[2], .dout = s[3], .drow_stat = s[4]},
                                        {.dq = g[0], .dk = g[1], .dv = g[2]}, workspace);
                   },
                   may_be_empty});
  calls.push_back({"attention_weights",
                   q_k + more + Views{{"row_stat", "BHL", read, type}, {"weights", "BHLK", written, type}},
                   [=](const CallViews& v) {
                     Workspace workspace;
                     attention_weights(v[0], v[1], spec(&v[2]), v[2 + n], v[3 + n], workspace);
                   },
                   may_be_empty});
  calls.push_back({"explain", operands(type) + more,
                   [=](const CallViews& v) { explain(v[0], v[1], v[2], spec(&v[3])); }, may_be_empty});
}

std::vector<OperatorCall> attention_calls() {
  std::vector<OperatorCall> calls;
  for (DType type : {DType::f32, DType::f64}) {  // the fast plans and the reference
    add_calls(calls, type, {{"sinks", "H", optional, type}}, "BLK",
              [](const View* more) { return AttentionSpec{.normaliser = Normaliser::softmax(own(more[0]))}; });
    add_calls(calls, type, {{"the vector", "D", read, type}}, "BLK",
              [](const View* more) { return AttentionSpec{.score = Score::additive(own(more[0]))}; });
    add_calls(calls, type, {integers("lengths", "B")}, "BLK", [](const View* more) {
      return AttentionSpec{.score = Score::features({}),
                           .mask = {.window = Window{.right = 0}, .lengths = own(more[0])},
                           .normaliser = Normaliser::sum()};
    });
    add_calls(calls, type, {{"the projection", "MD", read, type}}, "BLK", [](const View* more) {
      return AttentionSpec{.score = Score::features({FeatureMap::Kind::positive_random, own(more[0])}),
                           .normaliser = Normaliser::sum()};
    });
    add_calls(calls, type,
              {{"the dense bias", "BHLK", optional, type},
               {"the slopes", "H", optional, type},
               {"the table", "RH", optional, type},
               {"the centre", "BHL", optional, type}},
              "BLK", [](const View* more) {
                return AttentionSpec{.bias = {.dense = own(more[0]),
                                              .alibi = own(more[1]),
                                              .relative = {.table = own(more[2])},
                                              .gaussian = {.centre = own(more[3])}}};
              });
    add_calls(
        calls, type,
        {integers("lengths", "B"),
         integers("more lengths", "B"),
         integers("a prefix", "B"),
         integers("a centre", "BHL"),
         {"the boolean mask", "BHLK", read, DType::boolean},
         integers("the queries' segments", "BL"),
         integers("the keys' segments", "BK")},
        "BL", [](const View* more) {
          Mask mask = Mask::boolean(own(more[4])) & Mask::segments(own(more[5]), own(more[6]));
          mask.lengths = own(more[0]), mask.window = Window{.right = 0, .prefix = own(more[2])};
          mask.further = {{.lengths = own(more[1])}, {.window = Window{.left = 2, .right = 2, .centre = own(more[3])}}};
          return AttentionSpec{.mask = mask};
        });
    add_calls(calls, type, {{"the tiles", "HTC", read, DType::boolean}}, "B",
              [](const View* more) { return AttentionSpec{.mask = Mask::tiles(own(more[0]), 2, 2)}; });
  }
  return calls;
}

// Every gradient of a parameter.
OperatorCall parameter_gradients(DType type) {
  const Views parameters{{"q", "BHLD", read, type},       {"k", "BGKD", read, type},
                         {"the vector", "D", read, type}, {"the dense bias", "BHLK", read, type},
                         {"the table", "RH", read, type}, {"the centre", "BHL", read, type},
                         {"the sinks", "H", read, type}};
  const Views wanted_too{{"dbias", "BHLK", wanted, type},
                         {"dadditive_vector", "D", wanted, type},
                         {"dsinks", "H", wanted, type},
                         {"drelative", "RH", wanted, type},
                         {"dcentre", "BHL", wanted, type}};
  return {"attention_backward", parameters + saved(type) + wanted_too,
          [](const CallViews& v) {
            Workspace workspace;
            const AttentionSpec spec{
                .score = Score::additive(own(v[2])),
                .bias = {.dense = own(v[3]), .relative = {.table = own(v[4])}, .gaussian = {.centre = own(v[5])}},
                .normaliser = Normaliser::softmax(own(v[6]))};
            attention_backward(
                v[0], v[1], v[7], spec, {.out = v[8], .row_stat = v[9], .dout = v[10], .drow_stat = v[11]},
                {.dbias = v[12], .dadditive_vector = v[13], .dsinks = v[14], .drelative = v[15], .dcentre = v[16]},
                workspace);
          },
          "BLK"};
}

std::vector<OperatorCall> packed_and_paged() {
  const Views offsets{{"the query offsets", "O", read, DType::i32, 0, {0, 2, 5}},
                      {"the key offsets", "O", read, DType::i32, 0, {0, 3, 7}},
                      integers("lengths", "N", {2, 4})};
  const Views packed{{"q", "YHSD"}, {"k", "YGZD"}, {"v", "YGZV"}};
  const auto spec = [](const View* v) {
    return AttentionSpec{.mask = {.lengths = own(v[2])},
                         .sequences = {.query_offsets = own(v[0]), .key_offsets = own(v[1])}};
  };
  return {
      {"attention", offsets + packed + Views{{"out", "YHSV", wanted}, {"row_stat", "YHS", wanted}},
       [=](const CallViews& v) {
         Workspace workspace;
         attention(v[3], v[4], v[5], spec(&v[0]), {.out = v[6], .row_stat = v[7]}, workspace);
       }},
      {"attention_backward",
       offsets + packed +
           Views{{"out", "YHSV"},
                 {"row_stat", "YHS"},
                 {"dout", "YHSV"},
                 {"dq", "YHSD", wanted},
                 {"dk", "YGZD", wanted},
                 {"dv", "YGZV", wanted}},
       [=](const CallViews& v) {
         Workspace workspace;
         attention_backward(v[3], v[4], v[5], spec(&v[0]), {.out = v[6], .row_stat = v[7], .dout = v[8]},
                            {.dq = v[9], .dk = v[10], .dv = v[11]}, workspace);
       }},
      {"attention",
       {{"q", "BHLD"},
        {"k", "PGAD"},
        {"v", "PGAV"},
        {"lengths", "B", read, DType::i64, 0, {3, 2}},
        {"pages", "BQ", read, DType::i32, 0, {3, 0, -1, 4, -1, -1}},
        {"out", "BHLV", wanted}},
       [](const CallViews& v) {
         Workspace workspace;
         attention(v[0], v[1], v[2], {.mask = {.lengths = own(v[3])}, .sequences = {.pages = own(v[4])}}, {.out = v[5]},
                   workspace);
       },
       "BL"},
      {"PagedCache::append",
       {{"k", "BGLD"}, {"v", "BGLV"}},
       [](const CallViews& v) {
         PagedCache cache({.key_heads = 2, .width = 8, .value_width = 6, .page = 2, .pages = 4}, 2);
         cache.append(v[0], v[1]);
       },
       "L"},
  };
}

std::vector<OperatorCall> beside_attention() {
  const Views rule{{"q", "BHLD"},
                   {"k", "BGLD"},
                   {"v", "BGLV"},
                   {"decay", "BGLD", optional},
                   {"beta", "BGL", optional},
                   {"erase", "BGLD", optional},
                   {"state", "BGDV", optional}};
  const auto ruled = [](const CallViews& v) { return GatedDeltaRule{v[0], v[1], v[2], v[3], v[4], v[5], v[6]}; };
  const Views parts{{"a.out", "BHLV"}, {"a.row_stat", "BHL"}, {"b.out", "BHLV"}, {"b.row_stat", "BHL"}};
  return {
      {"attention_double_backward",
       Views{{"q", "BHLD"},
             {"k", "BGKD"},
             {"v", "BGKV"},
             {"row_stat", "BHL"},
             {"dout", "BHLV"},
             {"ddq", "BHLD", optional},
             {"ddk", "BGKD", optional},
             {"ddv", "BGKV", optional}} +
           gradients(DType::f32) + Views{{"ddout", "BHLV", wanted}},
       [](const CallViews& v) {
         attention_double_backward(v[0], v[1], v[2], {}, {.row_stat = v[3], .dout = v[4]}, {v[5], v[6], v[7]},
                                   {v[8], v[9], v[10], v[11]});
       },
       "BLK"},
      {"gated_delta_rule", rule + Views{{"out", "BHLV", wanted}, {"the last state", "BGDV", wanted}},
       [=](const CallViews& v) {
         Workspace workspace;
         gated_delta_rule(ruled(v), {v[7], v[8]}, workspace);
       },
       "BHLV"},
      {"gated_delta_rule_backward",
       rule + Views{{"dout", "BHLV"},
                    {"dstate_out", "BGDV", optional},
                    {"dq", "BHLD", wanted},
                    {"dk", "BGLD", wanted},
                    {"dv", "BGLV", wanted},
                    {"ddecay", "BGLD", wanted},
                    {"dbeta", "BGL", wanted},
                    {"derase", "BGLD", wanted},
                    {"dstate", "BGDV", wanted}},
       [=](const CallViews& v) {
         Workspace workspace;
         gated_delta_rule_backward(ruled(v), v[7], v[8], {v[9], v[10], v[11], v[12], v[13], v[14], v[15]}, workspace);
       },
       "BHLV"},
      {"linear_step",
       {{"q", "BHLD"},
        {"k", "BGLD"},
        {"v", "BGLV"},
        {"the values", "BGDV", written},
        {"the sums", "BGD", written},
        {"out", "BHLV", wanted}},
       [](const CallViews& v) {
         linear_step(v[0], v[1], v[2], Score::features({}), {Tensor::borrow(v[3]), Tensor::borrow(v[4])}, v[5]);
       },
       "BL"},
      {"rotary",
       {{"x", "BHLD"}, {"cos", "RE"}, {"sin", "RE"}, integers("positions", "BL"), {"out", "BHLD", written}},
       [](const CallViews& v) {
         rotary(v[0], {v[1], v[2], v[3]}, RotaryPairing::halves, v[4]);
       },
       "BHL"},
      {"rotary_backward",
       {{"dout", "BHLD"}, {"cos", "BLE"}, {"sin", "BLE"}, {"dx", "BHLD", written}},
       [](const CallViews& v) {
         rotary_backward(v[0], {v[1], v[2]}, RotaryPairing::interleaved, v[3]);
       },
       "BHL"},
      {"merge_attention", parts + Views{{"out", "BHLV", wanted}, {"row_stat", "BHL", wanted}},
       [](const CallViews& v) {
         merge_attention({v[0], v[1]}, {v[2], v[3]}, {v[4], v[5]});
       },
       "BHLV"},
      {"merge_attention_backward",
       parts + Views{{"dout", "BHLV"},
                     {"drow_stat", "BHL", optional},
                     {"dout_a", "BHLV", wanted},
                     {"drow_stat_a", "BHL", wanted},
                     {"dout_b", "BHLV", wanted},
                     {"drow_stat_b", "BHL", wanted}},
       [](const CallViews& v) {
         merge_attention_backward({v[0], v[1]}, {v[2], v[3]}, v[4], v[5], {v[6], v[7], v[8], v[9]});
       },
       "BHLV"},
      {"tensor_scatter",
       {{"update", "BGLD"}, integers("start", "B", {1, 2}), {"cache", "BGKD", written}},
       [](const CallViews& v) { tensor_scatter(v[0], v[1], v[2]); },
       "BGLD"},
      {"alibi_slopes", {{"the slopes", "H", written}}, [](const CallViews& v) { alibi_slopes(v[0]); }, "H"},
      {"orthogonal_random_features",
       {{"the features", "MD", written}},
       [](const CallViews& v) { orthogonal_random_features(v[0], 1); },
       "M"},
  };
}

TEST(AttentionOperands, AreRefusedWhereTheyCannotBeRight) {
  for (const auto& calls : {attention_calls(),
                            {parameter_gradients(DType::f32), parameter_gradients(DType::f64)},
                            packed_and_paged(),
                            beside_attention()}) {
    for (const OperatorCall& call : calls) EXPECT_EQ(testing::complaints_about_bad_views(call, kExtents), "");
  }
}

// A page of the pool as new rows would be read while it is written.
TEST(AttentionOperands, ACacheTakesNoRowsOfItsOwn) {
  PagedCache cache({.key_heads = 2, .width = 8, .value_width = 6, .page = 2, .pages = 4}, 1);
  const Tensor k = Tensor::zeros(DType::f32, {1, 2, 2, 8}), v = Tensor::zeros(DType::f32, {1, 2, 2, 6});
  cache.append(k, v);
  EXPECT_THROW(cache.append(slice(cache.keys(), 0, 0, 1), v), Error);
  EXPECT_THROW(cache.append(k, slice(cache.values(), 0, 1, 2)), Error);
  EXPECT_EQ(cache.length(0), 2);
}

}  // namespace
}  // namespace heed
