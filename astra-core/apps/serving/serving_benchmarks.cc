#include "astra-core/apps/serving/serving_benchmarks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "astra-core/apps/serving/serving_points.h"
#include "astra-core/base/random.h"

namespace astra {
namespace {

bool IsFrom(std::string_view source, std::string_view name) {
  return source.find(name) != std::string_view::npos;
}

bool IsInferenceX(std::string_view source) {
  return IsFrom(source, "InferenceX");
}

bool IsAiConfigurator(std::string_view source) {
  return !IsInferenceX(source) && IsFrom(source, "AIConfigurator");
}

}  // namespace

void SetUpEngine(std::string_view source, const BenchmarkLoad& load,
                 std::string_view engine, BatchingOptions& options) {
  constexpr int64_t kMoreTokens = 1500;
  if (IsInferenceX(source)) {
    options.max_sequences = load.in_flight;
  } else if (IsAiConfigurator(source)) {
    options.max_sequences = load.in_flight;
    const int64_t tokens = load.prompt + kMoreTokens;
    if (IsFrom(engine, "sglang")) {
      if (IsFrom(engine, " 0.5.1")) return;
      options.max_prefill_tokens = tokens;
      options.mixed_chunk = true;
      return;
    }
    options.max_batched_tokens = load.in_flight + tokens;
  }
}

bool HasFp8Cache(std::string_view source, std::string_view engine) {
  return IsAiConfigurator(source) && IsFrom(engine, "trtllm");
}

std::vector<Request> RequestsOfBenchmark(std::string_view source,
                                         const BenchmarkLoad& load) {
  constexpr double kLeast = 0.8;
  const bool varies = IsInferenceX(source);
  std::vector<Request> requests(static_cast<size_t>(kRounds * load.in_flight));
  for (size_t i = 0; i < requests.size(); ++i) {
    Request& request = requests[i];
    const auto length = [&](int64_t most, int which) {
      const double u = UnitInterval(HashOf(i, which));
      const double share = varies ? kLeast + (1 - kLeast) * u : 1;
      return std::max<int64_t>(1,
                               std::llround(share * static_cast<double>(most)));
    };
    request.id = static_cast<int64_t>(i);
    request.prompt_tokens = length(load.prompt, 0);
    request.output_tokens = length(load.output, 1);
  }
  return requests;
}

}  // namespace astra
