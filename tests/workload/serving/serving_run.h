// Runs of a few requests, written down step by step.

#ifndef TESTS_WORKLOAD_SERVING_SERVING_RUN_H_
#define TESTS_WORKLOAD_SERVING_SERVING_RUN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/base/append_format.h"
#include "workload/serving/request_source.h"
#include "workload/serving/schedulers/registry.h"
#include "workload/serving/simulation.h"

namespace astra::testing {

// All steps take the same time. Writes each down as
//
//   p8@0    a chunk of 8 positions of a prompt, behind 0 in the cache
//   d2@24   2 decodes, with 24 positions in the cache of both
//   d2+6@24 the same with 6 draft tokens
//   =3      and 3 positions whose next token is drawn.
class WrittenCost : public StepCost {
 public:
  explicit WrittenCost(TimePs time = TimePs(10)) : time_(time) {}

  TimePs TimeOf(const StepWork& work) override {
    std::string text;
    for (const PromptChunk& chunk : work.chunks) {
      AppendFormat(&text, "p{}@{} ", chunk.tokens, chunk.cached);
    }
    if (work.decodes > 0) {
      AppendFormat(&text, "d{}", work.decodes);
      if (work.draft_tokens > 0) AppendFormat(&text, "+{}", work.draft_tokens);
      AppendFormat(&text, "@{} ", work.decode_context);
    }
    AppendFormat(&text, "={}", work.samples);
    steps.push_back(text);
    return time_;
  }

  std::vector<std::string> steps;

 private:
  TimePs time_;
};

// Without the text.
class FixedCost : public StepCost {
 public:
  explicit FixedCost(TimePs time) : time_(time) {}
  TimePs TimeOf(const StepWork&) override { return time_; }

 private:
  TimePs time_;
};

// Proportional to the positions.
class TokenCost : public StepCost {
 public:
  TimePs TimeOf(const StepWork& work) override {
    return TimePs(1'000'000 + 10'000 * work.tokens());
  }
};

// Replicas of vLLM's scheduler, with a cache of 100 blocks each.
inline PoolOptions Vllm(StepCost* cost, int64_t replicas = 1) {
  PoolOptions pool = {.replicas = replicas,
                      .scheduler = &VllmScheduler(),
                      .options = VllmScheduler().defaults,
                      .cost = cost};
  pool.options.num_blocks = 100;
  return pool;
}

struct WrittenRun : public ServingObserver {
  void OnRequest(const RequestResult& result) override {
    requests.push_back(result);
  }
  void OnStep(const StepRecord& step) override { steps.push_back(step); }
  void OnTokens(TimePs gap, int64_t tokens) override {
    gaps.emplace_back(gap, tokens);
  }

  // The numbers of the requests in the order in which they ended.
  std::vector<int64_t> Ended() const {
    std::vector<int64_t> ids;
    for (const RequestResult& request : requests) ids.push_back(request.id);
    return ids;
  }
  const RequestResult& Of(int64_t id) const {
    for (const RequestResult& request : requests) {
      if (request.id == id) return request;
    }
    ASTRA_CHECK(false, "request {} did not end", id);
  }

  absl::Status status;
  std::vector<RequestResult> requests;
  std::vector<StepRecord> steps;
  std::vector<std::pair<TimePs, int64_t>> gaps;
};

// A request of a list: arrival in ps, lengths, and the hashes of its prefix in
// blocks of `hashed` tokens.
struct Asked {
  int64_t arrival = 0;
  int64_t prompt = 1;
  int64_t output = 1;
  std::vector<uint64_t> hashes = {};
  int64_t hashed = 4;
};

inline std::vector<Request> RequestsOf(const std::vector<Asked>& asked) {
  std::vector<Request> requests;
  requests.reserve(asked.size());
  for (const Asked& each : asked) {
    requests.push_back({.id = static_cast<int64_t>(requests.size()),
                        .arrival = TimePs(each.arrival),
                        .prompt_tokens = each.prompt,
                        .output_tokens = each.output,
                        .prefix = {each.hashed, each.hashes}});
  }
  return requests;
}

inline WrittenRun RunOf(const ServingOptions& options, RequestSource* source) {
  WrittenRun run;
  run.status = Serve(options, source, &run);
  return run;
}

inline WrittenRun RunOf(const ServingOptions& options,
                        const std::vector<Asked>& asked) {
  ListedRequests source(RequestsOf(asked));
  return RunOf(options, &source);
}

// The steps of one replica of `scheduler`.
inline std::vector<std::string> StepsOf(const SchedulerKind& scheduler,
                                        const BatchingOptions& options,
                                        const std::vector<Asked>& asked) {
  WrittenCost cost;
  const WrittenRun run = RunOf(
      {.pool = {.scheduler = &scheduler, .options = options, .cost = &cost}},
      asked);
  if (!run.status.ok()) return {std::string(run.status.message())};
  return cost.steps;
}

}  // namespace astra::testing

#endif  // TESTS_WORKLOAD_SERVING_SERVING_RUN_H_
