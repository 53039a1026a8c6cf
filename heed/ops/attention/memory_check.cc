#include "heed/ops/attention/memory_check.h"

#include "heed/ops/attention/spec/visit_spec.h"

namespace heed {

void check_call(const char* caller, const AttentionSpec& spec, OperandList read, OperandList written) {
  check_operands(caller, read, written);
  const auto check = [&](const char* name, const Tensor& tensor) {
    if (tensor.is_empty()) return;
    const Operand operand{name, tensor.view(), kOptional};
    check_operand(caller, operand);
    for (const Operand& one : written) check_apart(caller, one, operand);
  };
  visit_views(spec, [&](const char* name, const Tensor& tensor, PackedAxis) { check(name, tensor); });
  for (const auto& pattern : spec.mask.patterns) {
    for (const Tensor& tensor : pattern->tensors()) check("a mask", tensor);
  }
}

}  // namespace heed
