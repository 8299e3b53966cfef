// Jobs that serve beside jobs that train: what each takes from the other is
// what max-min fairness says.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/jobs/jobs_run.h"
#include "astra-core/serving/fabric/kv_messages.h"
#include "astra-core/serving/fabric/serving_fabric.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "network-frontends/registry/registry.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"
#include "tests/testing/topologies.h"
#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::HasSubstr;

// GPUs 0 and 1, each a server, below one leaf, and 2 and 3 below another; a
// cable of 400 Gbps, as the others, joins the leaves.
Topology TwoLeaves() {
  Drawing drawing(4, 1, 0, 2);
  drawing.Cable(0, 4).Cable(1, 4).Cable(2, 5).Cable(3, 5).Cable(4, 5);
  return drawing.Build();
}

// The KV cache of a prompt has 256 B for each token: 10 MiB, which take
// 209.7152 us at 400 Gbps.
constexpr int64_t kPrompt = 40'960;
constexpr Bytes kCache(kPrompt * 256);

// A deployment whose first GPU computes prompts, in steps of 10 us, and whose
// second one decodes.
class SmallDeployment {
 public:
  explicit SmallDeployment(std::vector<int64_t> arrivals_us)
      : arrivals_us_(std::move(arrivals_us)) {}

  ServingWork work() {
    return {.begin = [this](auto network) { return Begin(std::move(network)); },
            .go_on = [this] { return fabric_->GoOn(); },
            .share_done = [] { return 0.0; }};
  }

  // Returns how long the KV cache of a request moved, in the run before.
  double TransferUs(int64_t request) const {
    return ToMicroseconds(*run_->Of(request).times.kv_transfer());
  }

 private:
  absl::Status Begin(std::unique_ptr<NetworkBackend> network) {
    network_ = std::move(network);
    fabric_.emplace(*network_);
    caches_.emplace(*fabric_, kv_, PoolPlace{.first_gpu = 0},
                    PoolPlace{.first_gpu = 1});
    PoolOptions pool = {.scheduler = &VllmScheduler(),
                        .options = VllmScheduler().defaults,
                        .cost = &cost_};
    pool.options.num_blocks = 100'000;
    pool.options.max_batched_tokens = 1 << 20;
    options_ = {.pool = pool, .decode = pool};
    options_.transfer = [this](const KvTransfer& transfer) {
      return caches_->Start(transfer);
    };
    std::vector<Asked> asked;
    for (const int64_t arrival : arrivals_us_) {
      asked.push_back({arrival * 1'000'000, kPrompt, 2});
    }
    source_.emplace(RequestsOf(asked));
    run_.emplace();
    process_ = ValueOrDie(StartServing(options_, &*source_, &*run_));
    fabric_->Attach(*process_);
    return absl::OkStatus();
  }

  const std::vector<int64_t> arrivals_us_;
  const KvLayout kv_ = ValueOrDie(KvLayoutOf(SmallLlama(), {}, {}));
  FixedCost cost_{Microseconds(10)};
  ServingOptions options_;
  std::unique_ptr<NetworkBackend> network_;
  std::optional<ServingFabric> fabric_;
  std::optional<KvMessages> caches_;
  std::optional<ListedRequests> source_;
  std::optional<WrittenRun> run_;
  std::unique_ptr<ServingProcess> process_;
};

// Two ranks that sum up 64 MiB: each direction of the cable carries 64 MiB, in
// 1342 us.
Program Summing() {
  ProgramParts parts;
  parts.sizes.num_ranks = 2;
  parts.forward_only = true;
  ProgramModule module{.name = "sum", .passes = {}, .memory = {}, .update = {}};
  module.passes[0] = {
      {.kind = StepKind::kBlocking,
       .compute = {},
       .communication = {CollectiveKind::kAllReduce, ParallelDimension::kData,
                         Bytes(64 << 20)}}};
  parts.modules = {module};
  parts.stages = {{1, {{1, {ModuleId(0)}}}, {}}};
  return ValueOrDie(Program::Create(std::move(parts)));
}

// The deployment on GPUs 0 and 2 and training on 1 and 3: both meet on the
// cable between the leaves.
JobsRequest RequestOf(const Topology& topology, Fidelity fidelity,
                      SmallDeployment& deployment) {
  JobsRequest request{.jobs = {}, .topology = topology, .fidelity = fidelity};
  request.jobs.push_back(
      {.name = "chat",
       .work = deployment.work(),
       .part = ValueOrDie(PartOfCluster(topology, {0, 2}, 1))});
  request.jobs.push_back(
      {.name = "train",
       .work = TrainingWork{.program = Summing()},
       .part = ValueOrDie(PartOfCluster(topology, {1, 3}, 1))});
  request.network.packet = DefaultNetwork();
  request.network.packet.nic.header = Bytes(0);
  request.network.flow = FlowOptionsOf(request.network.packet);
  return request;
}

double MeanUs(const JobsResult& run, size_t job) {
  return ToMicroseconds(run.jobs[job].MeanIteration());
}

struct Case {
  Fidelity fidelity;
  double near_us;
};

class SharedCableTest : public ::testing::TestWithParam<Case> {};

// The cache has half of the cable, and takes 209.7 us longer. Training, which
// has the other half meanwhile, loses the time that the cache's bytes take.
TEST_P(SharedCableTest, ACacheAndAGradientHaveHalfEach) {
  const Topology topology = TwoLeaves();
  SmallDeployment deployment({0});
  const JobsRequest request =
      RequestOf(topology, GetParam().fidelity, deployment);
  const double lost =
      ToMicroseconds(TransferTime(kCache, Gbps(400)));  // 209.7152 us.
  const JobsResult together = ValueOrDie(RunJobs(request));
  const double beside = deployment.TransferUs(0);
  ValueOrDie(RunAlone(request, 0));
  EXPECT_NEAR(beside - deployment.TransferUs(0), lost, GetParam().near_us);
  const JobsResult alone = ValueOrDie(RunAlone(request, 1));
  EXPECT_NEAR(MeanUs(together, 1) - MeanUs(alone, 0), lost, GetParam().near_us);
  // The cable from the left to the right is link 8.
  EXPECT_EQ(together.jobs[0].link_bytes[8],
            static_cast<double>(kCache.count()));
  EXPECT_EQ(together.jobs[0].link_bytes[9], 0);
  EXPECT_EQ(together.jobs[1].link_bytes[8], 64 << 20);
}

INSTANTIATE_TEST_SUITE_P(Networks, SharedCableTest,
                         ::testing::Values(Case{Fidelity::kFlow, 1},
                                           Case{Fidelity::kPacket, 20}),
                         [](const auto& named) {
                           return std::string(Name(named.param.fidelity));
                         });

// A job that starts later serves as one that starts at once does, and its times
// count from its start.
TEST(ServingJobsTest, TimesCountFromTheStartOfTheJob) {
  const Topology topology = TwoLeaves();
  SmallDeployment deployment({0, 700});
  JobsRequest request = RequestOf(topology, Fidelity::kFlow, deployment);
  const JobsResult at_once = ValueOrDie(RunAlone(request, 0));
  const double transfer = deployment.TransferUs(1);
  request.jobs[0].start = Microseconds(5000);
  const JobsResult later = ValueOrDie(RunAlone(request, 0));
  EXPECT_EQ(deployment.TransferUs(1), transfer);
  EXPECT_EQ(later.jobs[0].start, Microseconds(5000));
  EXPECT_EQ(later.jobs[0].end, at_once.jobs[0].end + Microseconds(5000));
}

// Requests until 5 ms are served beside three iterations of more than 1.342 ms;
// a fourth outlasts them and does not count. Without requests for that long the
// first counts all the same.
TEST(ServingJobsTest, TrainingGoesOnUntilAllAreServed) {
  const Topology topology = TwoLeaves();
  for (const auto& [arrivals, iterations] :
       {std::pair<std::vector<int64_t>, size_t>{{0, 5000}, 3}, {{0}, 1}}) {
    SmallDeployment deployment(arrivals);
    JobsRequest request = RequestOf(topology, Fidelity::kFlow, deployment);
    request.jobs[1].training()->until_served = true;
    const JobsResult run = ValueOrDie(RunJobs(request));
    EXPECT_EQ(run.jobs[1].iterations.size(), iterations);
    EXPECT_EQ(ValueOrDie(RunAlone(request, 1)).jobs[0].iterations.size(), 1u);
  }
}

TEST(ServingJobsTest, AnErrorOfServingNamesTheJob) {
  const Topology topology = TwoLeaves();
  SmallDeployment deployment({0});
  JobsRequest request = RequestOf(topology, Fidelity::kFlow, deployment);
  std::get<ServingWork>(request.jobs[0].work).begin =
      [](std::unique_ptr<NetworkBackend>) {
        return absl::InvalidArgumentError("no room");
      };
  EXPECT_THAT(RunJobs(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("job chat: no room")));
}

}  // namespace
}  // namespace astra::testing
