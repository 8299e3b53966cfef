// The closed form of a replica that serves under a steady load: what users wait
// and how many requests a second it takes, from a few prices of steps instead
// of a replay of requests.
//
//   SteadyState steady({.cost = &times, .options = options,
//                       .scheduler = "vllm", .request_seconds = 0.02},
//                      {.prompt_tokens = 1024, .output_tokens = 128});
//   std::optional<SteadyLoad> load = steady.AtRate(10);  // None: too much.
//
// Model of the open load, whose requests arrive at random (Poisson), for
// prompts of S and answers of O tokens:
//
// clang-format off
//   b      sequences that decode together, as one of them sees it
//   d      seconds of a step of b sequences without prompts
//   m      seconds of a step that also computes k prompts, or 1/n of one
//   w      seconds that a prompt adds for those who decode: n (m - d) / k; where
//          prompts have steps of their own (sglang) n m / k
//   u      use of the steps by prompts: rate x n m(k) / k for the largest k
//   q      mean queue in services, constant service, c at once, and requests
//          that r replicas get in turn: u^(sqrt(2 (c + 1)) - 1) / (2 r c (1 - u))
//   L      prompts that are behind one when it ends: rate x n m (1 + q)
//   T      seconds of the O - 1 tokens behind the first: those of decoding, of
//          the prompts that were there (L), and of those that come meanwhile:
//            ((O - 1) d + w L) / (1 - rate w + w L / ((O - 1) m))
//            ((O - 1) d + w (L - rate d)) / (1 - rate w)            (sglang)
//          less what is left of the queue at the end
//   rate   with b - 1 = rate T, by Little's law
//   tpot   T / (O - 1)
//   ttft   rest of the step under way + n m (1 + q) + request_seconds, and the
//          queue q of requests that find the cache full
// clang-format on
//
// q is Sakasegawa's approximation (Ann. Inst. Statist. Math. 29, 1977) for
// constant service and gaps whose squared variation is 1 / r; for c = r = 1 it
// is the exact queue M/D/1.
//
// AtConcurrency() is a closed loop instead, whose requests are in step with one
// another: k of N enter together, and a step of k prompts beside N - k
// sequences comes once for each such group; sglang computes all prompts of a
// round first. That is the form of NVIDIA AIConfigurator
// (ai-dynamo/aiconfigurator 095f58a), without its fitted factors.
//
// Pipelines: with W steps under way a replica counts as W that have a share of
// 1 / W of its requests and of its cache, but for this. Steps pass the stages
// in order, so that a round of W steps lasts as long as the longest of them.
// With prompts in a share p of the steps, a round takes
//
//   d + (m - d) (1 - (1 - p)^W)
//
// in the mean. Where a prompt takes n steps that follow one another, W is
// 1 + (W - 1) / n here. W = 1 leaves d + (m - d) p. (Bubbles: Agrawal et al.,
// Sarathi-Serve, OSDI 2024.) L is 1 / W of what it is for one step, since
// prompts that come meanwhile join other steps.
//
// Error against the replay of requests of one length, with up to 32 sequences
// and half of the cache in use: at most 5 % of tpot and 12 % of ttft of an open
// load; 1 % of the rate, 4 % of tpot and 25 % of ttft of a closed loop, whose
// first round it leaves out; 5 % of tpot and 25 % of ttft of separate pools
// (SteadyStateTest.IsNearTheReplay...). Of pipelines with prompts of one step,
// at most 10 % of tpot and 23 % of ttft as long as no more than one prompt
// comes in three rounds, and 21 % and 30 % up to two in three. With more, tpot
// is up to 60 % too low: while one step is long, those who come gather in the
// next one. Prompts of several steps make tpot up to 50 % too high, and pools
// of pipelines that decode up to 40 % too low. A closed loop of pipelines is in
// step, and its rate is up to 25 % too high. Near the rate at which the queue
// never ends, tpot is up to 20 % off, and ttft means little: replays are
// shorter than it takes the queue to grow. Left out: prompts whose beginnings
// are in the cache, lengths that differ, preemptions (where sequences grow
// beyond the cache), and speculative decoding.

#ifndef ASTRA_CORE_SERVING_STEADY_STATE_H_
#define ASTRA_CORE_SERVING_STEADY_STATE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "workload/serving/batching_options.h"
#include "workload/serving/step.h"

namespace astra {

// Lengths of all requests, in tokens. Answers have at least two.
struct SteadyRequests {
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;
};

struct SteadyReplica {
  StepCost* cost = nullptr;
  BatchingOptions options;
  std::string_view scheduler;  // Name of its kind.
  double request_seconds = 0;  // From the arrival to the place in the queue.
  int64_t steps_under_way = 1;
  // Replicas that get requests in turn: arrivals at one of them vary less.
  int64_t replicas = 1;
};

// A load of a replica, or of one pool, and what becomes of its requests.
struct SteadyLoad {
  double rate = 0;       // Requests per second.
  double in_flight = 0;  // Requests in the mean.
  double batch = 0;      // Sequences that decode together.
  double ttft = 0;       // Seconds, in the mean.
  double tpot = 0;       // Seconds, in the mean.
};

// Returns an error for a scheduler that the closed form does not know.
absl::Status CheckSteadyScheduler(std::string_view scheduler);

class SteadyState {
 public:
  // The cost must outlive the object. Requires a known scheduler, a cache of at
  // least one block, and two output tokens.
  SteadyState(const SteadyReplica& replica, const SteadyRequests& requests);

  // Returns how many requests the cache and the limit of sequences hold at
  // once; 0 where not even one fits as a whole.
  int64_t most_in_flight() const { return most_ * ways_; }

  // Returns the open load under which a sequence decodes beside batch - 1
  // others; none if prompts or the cache do not keep up. Requires batch >= 1.
  std::optional<SteadyLoad> AtBatch(double batch) const;

  // Returns the open load of `rate` requests a second; none if it is too much.
  std::optional<SteadyLoad> AtRate(double rate) const;

  // Returns the closed loop of `requests` in flight, once their first round is
  // over. Requires requests > 0 and that one fits.
  SteadyLoad AtConcurrency(int64_t requests) const;

  // The same replica in the pool that computes prompts only. None: too much.
  std::optional<SteadyLoad> PrefillAtRate(double rate) const;
  // And in the pool for decoding: `transfer_seconds` pass from the first token
  // until the cache of a prompt is there, and count in tpot.
  std::optional<SteadyLoad> DecodeAtBatch(double batch,
                                          double transfer_seconds) const;

 private:
  // How prompts are computed while others decode. Times are in seconds.
  struct PromptSteps {
    double decode = 0;        // Step without prompts.
    double step = 0;          // Step with prompts.
    double prompts = 1;       // In a step.
    double steps = 1;         // Of a prompt that takes several.
    double most = 1;          // Prompts in a step, at most; at least 1.
    double share_of_one = 0;  // Time of steps for a prompt if they are full.
    double extra = 0;         // What a prompt adds for those who decode.
    double share = 0;         // Steps with prompts, for each that decodes.
  };

  double Decode(double batch) const;
  double Mixed(double batch, double prompts) const;
  double Prompts(double prompts) const { return Mixed(0, prompts); }
  double MixedOf(int64_t decodes, int64_t prompts) const;
  double Budget(double batch) const;
  double QueueOf(double servers, double use) const;
  double RoundsOf(double steps) const;
  double WaitForOthers(const PromptSteps& steps, double share) const;
  PromptSteps PromptStepsOf(double others) const;
  double DecodingSeconds(const PromptSteps& steps, double rate) const;
  double RateOf(const PromptSteps& steps, double others) const;
  double TtftOf(double others, const PromptSteps& steps, double rate) const;
  SteadyLoad Rounds(double requests) const;
  SteadyLoad InStep(double requests) const;
  SteadyLoad Saturated(double requests) const;

  SteadyReplica replica_;
  SteadyRequests requests_;
  int64_t ways_ = 1;  // Steps under way.
  int64_t most_ = 0;  // Requests at once, for each of these.
  bool prompts_alone_ = false;
  bool parts_wait_ = false;
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_STEADY_STATE_H_
