// Training speed of a small Transformer: 4 + 4 layers, width 128, hidden 256, 4 heads, a shared table of 10,000 tokens
// (2.6 M parameters), 292 pairs of 14 tokens a step, dropout 0.1, label smoothing 0.1, Adam. Random tokens: the work is
// that of text, without padding.
//
//   heed_training_bench [THREADS] [STEPS]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/models/transformer.h"
#include "heed/optim/adam.h"

int main(int argc, char** argv) {
  using namespace heed;
  using Clock = std::chrono::steady_clock;
  if (argc > 1) set_thread_count(std::atoi(argv[1]));
  const int steps = argc > 2 ? std::atoi(argv[2]) : 12, warm_up = 3;
  constexpr Index kVocabulary = 10000, kLength = 14, kRows = 4096 / kLength;

  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = kVocabulary;
  config.width = 128, config.heads = 4, config.ffn_width = 256;
  config.encoder_layers = config.decoder_layers = 4;
  config.norm_place = NormPlace::post;
  config.positions = PositionKind::learned;
  config.max_length = 64;
  config.dropout = config.attention_dropout = config.activation_dropout = 0.1;
  Rng rng(0);
  DrawnParameters drawn(rng);
  const Transformer model(drawn, config);
  std::vector<Var> parameters;
  Index count = 0;
  for (const auto& [name, var] : drawn.list()) {
    parameters.push_back(var);
    count += var.value().size();
  }
  Adam adam({.beta2 = 0.999, .epsilon = 1e-8}, parameters);

  const auto random_ids = [&] {
    const Tensor ids = Tensor::empty(DType::i32, {kRows, kLength});
    for (Index i = 0; i < ids.size(); ++i)
      ids.data<std::int32_t>()[i] = static_cast<std::int32_t>(4 + rng.below(kVocabulary - 4));
    return ids;
  };
  const Tensor lengths = Tensor::empty(DType::i32, {kRows});
  fill(lengths, kLength);
  const SequenceBatch batch{{random_ids(), lengths}, random_ids(), random_ids(), {}};
  const double tokens = kRows * kLength;

  Workspace workspace;
  std::vector<double> forward, backward, step;
  const auto seconds = [](Clock::time_point a, Clock::time_point b) {
    return std::chrono::duration<double>(b - a).count();
  };
  for (int i = 0; i < steps; ++i) {
    const auto begin = Clock::now();
    for (const Var& parameter : parameters) parameter.zero_grad();
    Tape tape;
    DropoutCalls dropout({.update = i});
    const Context context = Context::training(tape, workspace, dropout);
    model.loss(context, batch, {.label_smoothing = 0.1, .gradient_scale = 1 / tokens});
    const auto after_forward = Clock::now();
    tape.backward();
    const auto after_backward = Clock::now();
    adam.step(1e-3);
    const auto end = Clock::now();
    if (i < warm_up) continue;
    forward.push_back(seconds(begin, after_forward));
    backward.push_back(seconds(after_forward, after_backward));
    step.push_back(seconds(after_backward, end));
  }
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
  };
  const double f = median(forward), b = median(backward), s = median(step);
  fmt::print("{} parameters, {} threads, {} target tokens a step\n", count, thread_count(), tokens);
  fmt::print("forward with the loss's gradient {:.1f} ms, backward {:.1f} ms, Adam {:.1f} ms: {:.0f} target tokens/s\n",
             1e3 * f, 1e3 * b, 1e3 * s, tokens / (f + b + s));
}
