#include "workload/modules/module.h"

namespace astra {
namespace {

template <class Measure>
double Sum(const MockModule& module, ModulePass pass, Measure measure) {
  double sum = 0;
  for (const ModuleStep& step : module.pass(pass)) {
    if (step.kind == StepKind::kCompute) sum += measure(step.op);
  }
  return sum;
}

}  // namespace

double Flops(const MockModule& module, ModulePass pass) {
  return Sum(module, pass, [](const Operator& op) { return Flops(op); });
}

double BytesMoved(const MockModule& module, ModulePass pass) {
  return Sum(module, pass, [](const Operator& op) { return BytesMoved(op); });
}

}  // namespace astra
