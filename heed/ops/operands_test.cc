// Every operator of this room, called with each of its views spoilt: see complaints_about_bad_views.
#include <gtest/gtest.h>

#include <array>

#include "heed/ops/activation.h"
#include "heed/ops/broadcast.h"
#include "heed/ops/causal_convolution.h"
#include "heed/ops/class_loss.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/gemm.h"
#include "heed/ops/linear.h"
#include "heed/ops/loss.h"
#include "heed/ops/normalise.h"
#include "heed/ops/pooling.h"
#include "heed/ops/recurrent.h"
#include "heed/ops/softmax.h"
#include "heed/testing/operator_call.h"

namespace heed {
namespace {

using testing::CallView;
using testing::CallViews;
using testing::OperatorCall;
using enum testing::ViewPart;

// B: batch; R, C: rows and columns; I, O: in and out; K: depth; V: classes; S: positions; U: units, of which T, F, X, D
// and E are 3, 4, 5 and twice as many; L: length; W, H: a filter's width, and what it keeps.
const testing::Extents kExtents{{'B', 2}, {'R', 3}, {'C', 4},  {'I', 5},  {'O', 10}, {'K', 7}, {'V', 4}, {'S', 2},
                                {'U', 3}, {'T', 9}, {'F', 12}, {'X', 15}, {'D', 6},  {'L', 4}, {'W', 3}, {'H', 2}};

CallView whole_numbers(std::string name, std::string axes) { return {name, axes, read, DType::i32}; }

std::vector<OperatorCall> products() {
  std::vector<OperatorCall> calls;
  for (DType type : {DType::f32, DType::f64}) {
    calls.push_back({"gemm",
                     {{"a", "BRK", read, type},
                      {"b", "BKC", read, type},
                      {"bias", "C", optional, type},
                      {"c", "BRC", written, type}},
                     [](const CallViews& v) { gemm(v[0], v[1], v[3], {.bias = v[2]}); },
                     "BRKC"});
    calls.push_back({"linear",
                     {{"x", "RI", read, type},
                      {"weight", "OI", read, type},
                      {"bias", "O", optional, type},
                      {"y", "RO", written, type}},
                     [](const CallViews& v) { linear(v[0], v[1], v[2], v[3]); },
                     "RIO"});
    calls.push_back({"linear_backward",
                     {{"x", "RI", read, type},
                      {"weight", "OI", read, type},
                      {"dy", "RO", read, type},
                      {"dx", "RI", wanted, type},
                      {"dweight", "OI", wanted, type},
                      {"dbias", "O", wanted, type}},
                     [](const CallViews& v) { linear_backward(v[0], v[1], v[2], v[3], v[4], v[5]); },
                     "RIO"});
  }
  return calls;
}

// Operators of rows [R, C]: so many views that are read, and then one that is written.
OperatorCall rows_call(std::string name, std::vector<std::string> operands, std::string result, DType type,
                       std::function<void(const CallViews&)> run) {
  OperatorCall call{name, {}, std::move(run), "RC"};
  for (const std::string& operand : operands) call.views.push_back({operand, "RC", read, type});
  call.views.push_back({result, "RC", written, type});
  return call;
}

std::vector<OperatorCall> rows() {
  constexpr DropoutKey kKey{1, 2};
  std::vector<OperatorCall> calls;
  for (DType type : {DType::f32, DType::f64}) {
    const auto add_call = [&](std::string name, std::vector<std::string> operands, std::string result, auto run) {
      calls.push_back(rows_call(name, operands, result, type, run));
    };
    add_call("softmax", {"x"}, "y", [](const CallViews& v) { softmax(v[0], v[1]); });
    add_call("softmax_backward", {"y", "dy"}, "dx", [](const CallViews& v) { softmax_backward(v[0], v[1], v[2]); });
    add_call("log_softmax", {"x"}, "y", [](const CallViews& v) { log_softmax(v[0], v[1]); });
    add_call("log_softmax_backward", {"y", "dy"}, "dx",
             [](const CallViews& v) { log_softmax_backward(v[0], v[1], v[2]); });
    add_call("activate", {"x"}, "y", [](const CallViews& v) { activate(Activation::gelu, v[0], v[1]); });
    add_call("activate_backward", {"x", "dy"}, "dx",
             [](const CallViews& v) { activate_backward(Activation::gelu, v[0], v[1], v[2]); });
    add_call("dropout", {"x"}, "y", [=](const CallViews& v) { dropout(v[0], 0.5, kKey, v[1]); });
    add_call("dropout_add", {"x", "residual"}, "y",
             [=](const CallViews& v) { dropout_add(v[0], 0.5, kKey, v[1], v[2]); });
    add_call("add", {"a", "b"}, "y", [](const CallViews& v) { add(v[0], v[1], v[2]); });
    add_call("subtract", {"a", "b"}, "y", [](const CallViews& v) { subtract(v[0], v[1], v[2]); });
    add_call("multiply", {"a", "b"}, "y", [](const CallViews& v) { multiply(v[0], v[1], v[2]); });
    add_call("scale", {"x"}, "y", [](const CallViews& v) { scale(v[0], 2, v[1]); });
    add_call("add_to", {"x"}, "y", [](const CallViews& v) { add_to(v[0], v[1]); });
    add_call("add_scaled_to", {"x"}, "y", [](const CallViews& v) { add_scaled_to(v[0], 2, v[1]); });
    add_call("add_product_to", {"a", "b"}, "y", [](const CallViews& v) { add_product_to(v[0], v[1], v[2]); });
    calls.push_back({"add_row",
                     {{"x", "RC", read, type}, {"row", "C", read, type}, {"y", "RC", written, type}},
                     [](const CallViews& v) { add_row(v[0], v[1], v[2]); },
                     "R"});
    calls.push_back({"sum_rows_to",
                     {{"x", "RC", read, type}, {"sum", "C", written, type}},
                     [](const CallViews& v) { sum_rows_to(v[0], v[1]); },
                     "R"});
    calls.push_back({"layer_norm",
                     {{"x", "RC", read, type},
                      {"gamma", "C", optional, type},
                      {"beta", "C", optional, type},
                      {"y", "RC", written, type},
                      {"mean", "R", wanted, type},
                      {"rstd", "R", wanted, type}},
                     [](const CallViews& v) { layer_norm(v[0], v[1], v[2], 1e-5, v[3], v[4], v[5]); },
                     "R"});
    calls.push_back({"layer_norm_backward",
                     {{"x", "RC", read, type},
                      {"gamma", "C", optional, type},
                      {"mean", "R", read, type},
                      {"rstd", "R", read, type},
                      {"dy", "RC", read, type},
                      {"dx", "RC", wanted, type},
                      {"dgamma", "C", wanted, type},
                      {"dbeta", "C", wanted, type}},
                     [](const CallViews& v) { layer_norm_backward(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]); },
                     "R"});
    calls.push_back({"rms_norm",
                     {{"x", "RC", read, type},
                      {"gamma", "C", optional, type},
                      {"y", "RC", written, type},
                      {"rstd", "R", wanted, type}},
                     [](const CallViews& v) { rms_norm(v[0], v[1], 1e-5, v[2], v[3]); },
                     "R"});
    calls.push_back({"rms_norm_backward",
                     {{"x", "RC", read, type},
                      {"gamma", "C", optional, type},
                      {"rstd", "R", read, type},
                      {"dy", "RC", read, type},
                      {"dx", "RC", wanted, type},
                      {"dgamma", "C", wanted, type}},
                     [](const CallViews& v) { rms_norm_backward(v[0], v[1], v[2], v[3], v[4], v[5]); },
                     "R"});
  }
  calls.push_back({"concat",
                   {{"a part", "BRC"}, {"another", "BRD"}, {"y", "BRO", written}},
                   [](const CallViews& v) {
                     const std::array<ConstView, 2> parts{v[0], v[1]};
                     concat(parts, v[2]);
                   },
                   "BR"});
  calls.push_back({"split",
                   {{"x", "BRO"}, {"a part", "BRC", written}, {"another", "BRD", written}},
                   [](const CallViews& v) {
                     split(v[0], std::array{v[1], v[2]});
                   },
                   "BR"});
  return calls;
}

std::vector<OperatorCall> reductions() {
  const CallView padding{"padding", "BL", optional, DType::boolean, 0};
  std::vector<OperatorCall> calls;
  for (DType type : {DType::f32, DType::f64}) {
    calls.push_back({"broadcast",
                     {{"x", "C", read, type}, {"y", "BRC", written, type}},
                     [](const CallViews& v) { broadcast(v[0], v[1]); },
                     "BRC"});
    calls.push_back({"sum_to_shape",
                     {{"x", "BRC", read, type}, {"y", "RC", written, type}},
                     [](const CallViews& v) { sum_to_shape(v[0], v[1]); },
                     "BRC"});
    calls.push_back({"mean_pool",
                     {{"x", "BLC", read, type}, padding, {"y", "BC", written, type}},
                     [](const CallViews& v) { mean_pool(v[0], v[1], v[2]); },
                     "BLC"});
    calls.push_back({"mean_pool_backward",
                     {padding, {"dy", "BC", read, type}, {"dx", "BLC", written, type}},
                     [](const CallViews& v) { mean_pool_backward(v[0], v[1], v[2]); },
                     "BLC"});
    calls.push_back({"max_pool",
                     {{"x", "BLC", read, type}, padding, {"y", "BC", written, type}, {"at", "BC", written, DType::i32}},
                     [](const CallViews& v) { max_pool(v[0], v[1], v[2], v[3]); },
                     "BLC"});
    calls.push_back({"max_pool_backward",
                     {whole_numbers("at", "BC"), {"dy", "BC", read, type}, {"dx", "BLC", written, type}},
                     [](const CallViews& v) { max_pool_backward(v[0], v[1], v[2]); },
                     "BC"});
  }
  return calls;
}

std::vector<OperatorCall> losses() {
  std::vector<OperatorCall> calls;
  for (DType type : {DType::f32, DType::f64}) {
    calls.push_back({"embedding",
                     {{"table", "VC", read, type}, whole_numbers("ids", "BR"), {"y", "BRC", written, type}},
                     [](const CallViews& v) { embedding(v[0], v[1], 2, v[2]); },
                     "BRC"});
    calls.push_back({"embedding_backward",
                     {whole_numbers("ids", "BR"), {"dy", "BRC", read, type}, {"dtable", "VC", written, type}},
                     [](const CallViews& v) { embedding_backward(v[0], 2, v[1], v[2]); },
                     "BRC"});
    calls.push_back({"linear_cross_entropy",
                     {{"x", "RI", read, type},
                      {"weight", "VI", read, type},
                      {"bias", "V", optional, type},
                      whole_numbers("targets", "R"),
                      {"dx", "RI", wanted, type},
                      {"dweight", "VI", wanted, type},
                      {"dbias", "V", wanted, type}},
                     [](const CallViews& v) {
                       linear_cross_entropy(v[0], v[1], v[2], v[3], {.ignore_index = -1}, v[4], v[5], v[6]);
                     },
                     "RI"});
    for (const auto& [scores, targets] : {std::pair{"RV", "R"}, std::pair{"RVS", "RS"}})
      for (Reduction reduction : {Reduction::none, Reduction::mean}) {
        const ClassLossOptions options{.reduction = reduction};
        const std::string losses = reduction == Reduction::none ? targets : "";
        calls.push_back({"nll_loss",
                         {{"log_p", scores, read, type},
                          whole_numbers("targets", targets),
                          {"weight", "V", optional, type},
                          {"loss", losses, written, type}},
                         [=](const CallViews& v) { nll_loss(v[0], v[1], v[2], options, v[3]); },
                         "RS"});
        calls.push_back({"nll_loss_backward",
                         {whole_numbers("targets", targets),
                          {"weight", "V", optional, type},
                          {"dloss", losses, read, type},
                          {"dlog_p", scores, written, type}},
                         [=](const CallViews& v) { nll_loss_backward(v[0], v[1], options, v[2], v[3]); },
                         "RS"});
        calls.push_back({"cross_entropy",
                         {{"logits", scores, read, type},
                          whole_numbers("targets", targets),
                          {"weight", "V", optional, type},
                          {"loss", losses, written, type},
                          {"log_p", scores, wanted, type}},
                         [=](const CallViews& v) { cross_entropy(v[0], v[1], v[2], options, v[3], v[4]); },
                         "RS"});
        calls.push_back({"cross_entropy_backward",
                         {{"log_p", scores, read, type},
                          whole_numbers("targets", targets),
                          {"weight", "V", optional, type},
                          {"dloss", losses, read, type},
                          {"dlogits", scores, written, type}},
                         [=](const CallViews& v) { cross_entropy_backward(v[0], v[1], v[2], options, v[3], v[4]); },
                         "RS"});
      }
  }
  return calls;
}

std::vector<OperatorCall> recurrences() {
  const CallView active{"active", "B", optional, DType::boolean, 1};
  return {
      {"gru_cell",
       {{"gates_x", "BT"}, {"gates_h", "BT"}, {"h_prev", "BU"}, active, {"h", "BU", written}, {"saved", "BF", wanted}},
       [](const CallViews& v) {
         gru_cell({v[0], v[1], v[2], v[3]}, v[4], v[5]);
       },
       "B"},
      {"gru_cell_backward",
       {{"h_prev", "BU"},
        {"saved", "BF"},
        {"dh", "BU"},
        active,
        {"dgates_x", "BT", written},
        {"dgates_h", "BT", written},
        {"dh_prev", "BU", wanted}},
       [](const CallViews& v) {
         gru_cell_backward({.h_prev = v[0], .active = v[3]}, v[1], v[2], {v[4], v[5], v[6]});
       },
       "B"},
      {"gru_reset",
       {{"gates_x", "BT"},
        {"gates_h", "BD"},
        {"h_prev", "BU"},
        active,
        {"reset_h", "BU", written},
        {"saved", "BT", written}},
       [](const CallViews& v) {
         gru_reset({v[0], v[1], v[2], v[3]}, v[4], v[5]);
       },
       "B"},
      {"gru_update",
       {{"gates_x", "BT"},
        {"candidate_h", "BU"},
        {"h_prev", "BU"},
        active,
        {"h", "BU", written},
        {"saved", "BT", written}},
       [](const CallViews& v) { gru_update({.gates_x = v[0], .h_prev = v[2], .active = v[3]}, v[1], v[4], v[5]); },
       "B"},
      {"gru_update_backward",
       {{"h_prev", "BU"}, {"saved", "BT"}, {"dh", "BU"}, active, {"dgates", "BT", written}, {"dh_prev", "BU", wanted}},
       [](const CallViews& v) {
         gru_update_backward({.h_prev = v[0], .active = v[3]}, v[1], v[2], {v[4], v[5]});
       },
       "B"},
      {"gru_reset_backward",
       {{"h_prev", "BU"},
        {"saved", "BT"},
        {"dreset_h", "BU"},
        active,
        {"dgates", "BT", written},
        {"dh_prev", "BU", wanted}},
       [](const CallViews& v) {
         gru_reset_backward({.h_prev = v[0], .active = v[3]}, v[1], v[2], {v[4], v[5]});
       },
       "B"},
      {"lstm_cell",
       {{"gates_x", "BF"},
        {"gates_h", "BF", optional},
        {"c_prev", "BU"},
        {"h_prev", "BU", optional},
        {"peepholes", "T", optional},
        active,
        {"h", "BU", written},
        {"c", "BU", written},
        {"saved", "BX", wanted}},
       [](const CallViews& v) {
         lstm_cell({v[0], v[1], v[2], v[3], v[4], v[5]}, v[6], v[7], v[8]);
       },
       "B"},
      {"lstm_cell_backward",
       {{"c_prev", "BU"},
        {"peepholes", "T", optional},
        active,
        {"c", "BU"},
        {"saved", "BX"},
        {"dh", "BU", optional},
        {"dc", "BU", optional},
        {"dgates", "BF", written},
        {"dc_prev", "BU", wanted},
        {"dh_prev", "BU", wanted},
        {"dpeepholes", "T", wanted}},
       [](const CallViews& v) {
         lstm_cell_backward({.c_prev = v[0], .peepholes = v[1], .active = v[2]}, v[3], v[4], v[5], v[6],
                            {v[7], v[8], v[9], v[10]});
       },
       "B"},
      {"rnn_cell",
       {{"gates_x", "BU"}, {"gates_h", "BU", optional}, {"h_prev", "BU", optional}, active, {"h", "BU", written}},
       [](const CallViews& v) {
         rnn_cell({v[0], v[1], v[2], v[3]}, v[4]);
       },
       "BU"},
      {"rnn_cell_backward",
       {active, {"h", "BU"}, {"dh", "BU"}, {"dgates", "BU", written}, {"dh_prev", "BU", wanted}},
       [](const CallViews& v) {
         rnn_cell_backward({.active = v[0]}, v[1], v[2], {v[3], v[4]});
       },
       "BU"},
      {"causal_convolution",
       {{"x", "BCL"},
        {"weight", "CW"},
        {"bias", "C", optional},
        {"state", "BCH", optional},
        {"y", "BCL", wanted},
        {"last_state", "BCH", wanted}},
       [](const CallViews& v) {
         causal_convolution({v[0], v[1], v[2], v[3]}, v[4], v[5]);
       },
       "BCL"},
      {"causal_convolution_backward",
       {{"x", "BCL"},
        {"weight", "CW"},
        {"bias", "C", optional},
        {"state", "BCH", optional},
        {"dy", "BCL"},
        {"dlast_state", "BCH", optional},
        {"dx", "BCL", wanted},
        {"dstate", "BCH", wanted},
        {"dweight", "CW", wanted},
        {"dbias", "C", wanted}},
       [](const CallViews& v) {
         causal_convolution_backward({v[0], v[1], v[2], v[3]}, v[4], v[5], {v[6], v[7], v[8], v[9]});
       },
       "BCL"},
  };
}

TEST(OperatorOperands, AreRefusedWhereTheyCannotBeRight) {
  for (const auto& calls : {products(), rows(), reductions(), losses(), recurrences()}) {
    for (const OperatorCall& call : calls) EXPECT_EQ(testing::complaints_about_bad_views(call, kExtents), "");
  }
}

}  // namespace
}  // namespace heed
