// What an attention call asks of its views: see tensor/operands.h.
#pragma once

#include "heed/ops/attention/spec/spec.h"
#include "heed/tensor/operands.h"

namespace heed {

// check_operands() of a call, with the views of its spec among those that are read.
void check_call(const char* caller, const AttentionSpec& spec, OperandList read, OperandList written);

}  // namespace heed
