#include "heed/models/sequence_model.h"

#include "heed/autograd/loss.h"
#include "heed/autograd/operators.h"

namespace heed {

Var SequenceModel::logits(const Context& context, const SequenceBatch& batch) const {
  return linear(context, features(context, batch), output_weight(), {});
}

LossResult SequenceModel::loss(const Context& context, const SequenceBatch& batch,
                               const CrossEntropyOptions& options) const {
  return linear_cross_entropy(context, features(context, batch), output_weight(), {}, batch.output, options);
}

}  // namespace heed
