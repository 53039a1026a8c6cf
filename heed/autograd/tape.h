// The record of what was computed, run backwards for gradients.
//
//   Tape tape;
//   const Context context = Context::training(tape, workspace, dropout);
//   Var loss_input = layer.forward(context, x);
//   loss_input.add_grad(seed); tape.backward();
#pragma once

#include <functional>
#include <vector>

namespace heed {

class Tape {
 public:
  // Adds one operator's backward step.
  void record(std::function<void()> backward) { steps_.push_back(std::move(backward)); }

  // Runs the steps, last first, and frees each (with the activations that only it kept) when it has run. Empty
  // afterwards.
  void backward() {
    while (!steps_.empty()) {
      const std::function<void()> step = std::move(steps_.back());
      steps_.pop_back();
      step();
    }
  }

  bool empty() const { return steps_.empty(); }

 private:
  std::vector<std::function<void()>> steps_;
};

}  // namespace heed
