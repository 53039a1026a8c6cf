#include "heed/models/sequence_model.h"

#include "heed/autograd/loss.h"
#include "heed/autograd/operators.h"
#include "heed/base/check.h"

namespace heed {
namespace {

void check_predicts(const SequenceModel& model) {
  HEED_CHECK(model.output_weight(), "SequenceModel: the model has no output projection, so it predicts no next token");
}

}  // namespace

Var SequenceModel::project(const Context& context, const Var& features) const {
  check_predicts(*this);
  const Var logits = linear(context, features, output_weight(), output_bias());
  const double cap = logit_soft_cap();
  if (cap == 0) return logits;
  return scale(context, activate(context, Activation::tanh, scale(context, logits, 1 / cap)), cap);
}

Var SequenceModel::logits(const Context& context, const SequenceBatch& batch) const {
  return project(context, features(context, batch));
}

LossResult SequenceModel::loss(const Context& context, const SequenceBatch& batch,
                               const CrossEntropyOptions& options) const {
  HEED_CHECK(logit_soft_cap() == 0, "SequenceModel::loss: a model with logit_soft_cap cannot be trained");
  check_predicts(*this);
  return linear_cross_entropy(context, features(context, batch), output_weight(), output_bias(), batch.output, options);
}

}  // namespace heed
