// Any bytes are a model, a strategy or a system of SimuMax, or errors of one
// line each; what is read gives an iteration of a finite time, or such an
// error.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "astra-core/base/check.h"
#include "astra-core/planner/simumax/simulate.h"
#include "astra-core/planner/simumax/simumax_files.h"

namespace astra {
namespace {

void CheckLine(absl::string_view text) {
  ASTRA_CHECK(text.find('\n') == absl::string_view::npos,
              "a message of several lines");
}

SimumaxFiles SmallFiles() {
  SimumaxFiles files;
  files.model = {.file = "model",
                 .name = "small",
                 .hidden = 64,
                 .heads = 4,
                 .kv_heads = 4,
                 .head_size = 16,
                 .ffn = 128,
                 .layers = 4,
                 .vocabulary = 1000,
                 .expert_ffn = 128};
  files.strategy.file = "strategy";
  files.strategy.sequence = 64;
  files.strategy.micro_batch = 1;
  files.strategy.micro_batches = 4;
  files.system.file = "system";
  files.system.operators["default"] = {.tflops = 100, .efficiency = 0.5};
  files.system.bandwidths["default"] = {.gib_per_second = 1000,
                                        .efficiency = 0.5};
  return files;
}

void CheckIteration(const SimumaxFiles& files) {
  const SimumaxStrategy& strategy = files.strategy;
  constexpr int64_t kMost = 1 << 10;
  if (strategy.micro_batches > kMost || strategy.pipeline > kMost ||
      strategy.chunks > kMost || files.model.layers > kMost) {
    return;  // It would take seconds.
  }
  const absl::StatusOr<SimumaxResult> result = Simulate(files);
  if (!result.ok()) {
    CheckLine(result.status().message());
    return;
  }
  ASTRA_CHECK(std::isfinite(result->iteration_ms) && result->iteration_ms > 0,
              "an iteration of {} ms", result->iteration_ms);
}

template <class Parse, class Part>
void Check(const Parse& parse, std::string_view contents,
           Part SimumaxFiles::*part) {
  Warnings warnings;
  const auto read = parse("file", contents, &warnings);
  for (const std::string& warning : warnings) CheckLine(warning);
  if (!read.ok()) {
    CheckLine(read.status().message());
    return;
  }
  SimumaxFiles files = SmallFiles();
  files.*part = *read;
  CheckIteration(files);
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view contents(reinterpret_cast<const char*>(data), size);
  using astra::SimumaxFiles;
  astra::Check(astra::ParseSimumaxModel, contents, &SimumaxFiles::model);
  astra::Check(astra::ParseSimumaxStrategy, contents, &SimumaxFiles::strategy);
  astra::Check(astra::ParseSimumaxSystem, contents, &SimumaxFiles::system);
  return 0;
}
