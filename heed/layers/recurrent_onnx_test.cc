// The recurrent layers against the conformance cases of ONNX's operators RNN, GRU and LSTM.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "heed/io/json.h"
#include "heed/io/npy.h"
#include "heed/layers/recurrent.h"
#include "heed/testing/data_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Blocks of `units` rows in another order: block i of the result is block order[i].
Tensor reorder(const ConstView& from, Index units, const std::vector<Index>& order) {
  const Tensor to = Tensor::empty_like(from);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Index begin = static_cast<Index>(i) * units;
    copy(slice(from, 0, order[i] * units, (order[i] + 1) * units), slice(to.view(), 0, begin, begin + units));
  }
  return to;
}

class OnnxCase {
 public:
  explicit OnnxCase(const fs::path& folder) : folder_(folder), json_(read_json(folder / "case.json")) {
    for (const Json& input : json_["inputs"].items()) {
      if (!input.is_null()) inputs_[input["name"].string()] = read_npy(folder / input["file"].string());
    }
    const Json& attributes = json_["attributes"];
    hidden_ = attributes["hidden_size"].integer(1, 1000);
    batch_first_ = attributes.has("layout") && attributes["layout"].integer(0, 1) == 1;
    const std::string direction = attributes.has("direction") ? attributes["direction"].string() : "forward";
    direction_ = direction == "forward"   ? Direction::forward
                 : direction == "reverse" ? Direction::reverse
                                          : Direction::both;
    reset_after_ = attributes.has("linear_before_reset") && attributes["linear_before_reset"].integer(0, 1) == 1;
  }

  void check() const {
    const Tensor x = batch_major(inputs_.at("X"));
    Rng rng(1);
    const Recurrent layer(rng, {.cell = cell(), .inputs = x.dim(2), .hidden = hidden_, .direction = direction_});
    set_parameters(layer);
    Workspace workspace;
    const Context context{.workspace = workspace, .rng = rng};
    const RecurrentOutput output = layer.forward(context, Var(x), tensor("sequence_lens"), initial_states(layer));
    int compared = 0;
    for (const Json& expected : json_["outputs"].items()) {
      if (expected.is_null()) continue;
      const std::string name = expected["name"].string();
      const Tensor truth = read_npy(folder_ / expected["file"].string());
      if (name == "Y") {
        compare(as_onnx_sequence(output.states.value(), layer.directions()), truth, name);
      } else {
        compare(as_onnx_states(output.last, name == "Y_c"), truth, name);
      }
      ++compared;
    }
    EXPECT_GE(compared, 1);
  }

 private:
  Tensor tensor(const std::string& name) const { return inputs_.contains(name) ? inputs_.at(name) : Tensor(); }

  CellKind cell() const {
    const std::string op = json_["op"].string();
    if (op == "RNN") return CellKind::rnn;
    if (op == "GRU") return reset_after_ ? CellKind::gru : CellKind::gru_reset_first;
    return inputs_.contains("P") ? CellKind::lstm_peephole : CellKind::lstm;
  }

  // ONNX's blocks in the order of PyTorch's: z, r, h to r, z, n; and i, o, f, c to i, f, g, o.
  std::vector<Index> gate_order() const {
    switch (gate_count(cell())) {
      case 1:
        return {0};
      case 3:
        return {1, 0, 2};
      default:
        return {0, 2, 3, 1};
    }
  }

  void set_parameters(const Recurrent& layer) const {
    ParameterList list;
    layer.parameters("", list);
    const Index gates = gate_count(cell()) * hidden_, directions = layer.directions();
    const std::size_t each = list.size() / static_cast<std::size_t>(directions);
    const Tensor bias = inputs_.contains("B") ? inputs_.at("B") : Tensor::zeros(DType::f32, {directions, 2 * gates});
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Index d = static_cast<Index>(i / each);
      const auto own = [&](const Tensor& packed) { return select(packed.view(), 0, d); };
      const std::string& name = list[i].name;
      const auto is = [&name](const char* start) { return name.rfind(start, 0) == 0; };
      if (is("weight_ih")) list[i].var.set_value(reorder(own(inputs_.at("W")), hidden_, gate_order()));
      if (is("weight_hh")) list[i].var.set_value(reorder(own(inputs_.at("R")), hidden_, gate_order()));
      if (is("bias_ih")) list[i].var.set_value(reorder(slice(own(bias), 0, 0, gates), hidden_, gate_order()));
      if (is("bias_hh")) list[i].var.set_value(reorder(slice(own(bias), 0, gates, 2 * gates), hidden_, gate_order()));
      if (is("weight_peephole")) list[i].var.set_value(reorder(own(inputs_.at("P")), hidden_, {0, 2, 1}));
    }
  }

  // [L, B, W], or [B, L, W] where the case says layout = 1.
  Tensor batch_major(const Tensor& onnx) const {
    return batch_first_ ? onnx : Tensor::copy_of(transpose(onnx.view(), 0, 1));
  }

  std::vector<RecurrentState> initial_states(const Recurrent& layer) const {
    std::vector<RecurrentState> states;
    if (!inputs_.contains("initial_h")) return states;
    for (Index d = 0; d < layer.directions(); ++d) {
      const auto own = [&](const std::string& name) {
        return inputs_.contains(name) ? Var(Tensor::copy_of(select(inputs_.at(name).view(), batch_first_ ? 1 : 0, d)))
                                      : Var();
      };
      states.push_back({own("initial_h"), own("initial_c")});
    }
    return states;
  }

  // [B, L, D * H] as [L, D, B, H], or [B, L, D, H].
  Tensor as_onnx_sequence(const Tensor& states, Index directions) const {
    const View split = reshape(states.view(), {states.dim(0), states.dim(1), directions, hidden_});
    return Tensor::copy_of(batch_first_ ? split : transpose(transpose(split, 0, 1), 1, 2));
  }

  // [D, B, H], or [B, D, H].
  Tensor as_onnx_states(const std::vector<RecurrentState>& last, bool memory) const {
    const Index directions = static_cast<Index>(last.size()), batch = last[0].h.dim(0);
    const Tensor all = Tensor::empty(DType::f32, {directions, batch, hidden_});
    for (Index d = 0; d < directions; ++d) {
      const RecurrentState& state = last[static_cast<std::size_t>(d)];
      copy(memory ? state.c : state.h, select(all.view(), 0, d));
    }
    return Tensor::copy_of(batch_first_ ? transpose(all.view(), 0, 1) : all.view());
  }

  void compare(const Tensor& ours, const Tensor& truth, const std::string& name) const {
    ASSERT_TRUE(same_shape(ours.view(), truth.view()))
        << name << ": " << describe(ours.view()) << ", " << describe(truth.view());
    const double rtol = json_["rtol"].number(), atol = json_["atol"].number();
    for (Index i = 0; i < truth.size(); ++i) {
      const double expected = static_cast<double>(truth.data<float>()[i]);
      EXPECT_NEAR(static_cast<double>(ours.data<float>()[i]), expected, atol + rtol * std::fabs(expected))
          << name << " " << i;
    }
  }

  fs::path folder_;
  Json json_;
  std::map<std::string, Tensor> inputs_;
  Index hidden_ = 0;
  bool batch_first_ = false, reset_after_ = false;
  Direction direction_ = Direction::forward;
};

TEST(OnnxRecurrent, EveryCaseIsMatched) {
  HEED_DATA_OR_SKIP(folder, "onnx/rnn");
  int checked = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!fs::exists(entry.path() / "case.json")) continue;
    SCOPED_TRACE(entry.path().filename().string());
    OnnxCase(entry.path()).check();
    ++checked;
  }
  EXPECT_EQ(checked, 9);
}

}  // namespace
}  // namespace heed
