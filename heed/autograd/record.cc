#include "heed/autograd/record.h"

#include "heed/base/check.h"

namespace heed {

void check_trains(std::string_view function, const Context& context, const Var& weight) {
  HEED_CHECK(context.tape == nullptr || !is_narrow(weight.dtype()),
             "{}: a narrow weight is for inference, and has no gradient: to train, it must be f32, but it is {}",
             function, describe_weight(weight));
}

}  // namespace heed
