#include "astra-core/apps/simulator/deployment_job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/apps/serving/replica_times.h"
#include "astra-core/apps/serving/serving_cluster.h"
#include "astra-core/apps/serving/serving_record.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/serving_setup.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/apps/simulator/serving_keys.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/simulation.h"

namespace astra {
namespace {

// Counts the requests that have ended.
class RequestCounter final : public ServingObserver {
 public:
  void OnRequest(const RequestResult&) override { ++ended_; }
  void OnStep(const StepRecord&) override {}
  void OnTokens(TimePs, int64_t) override {}

  int64_t ended() const { return ended_; }

 private:
  int64_t ended_ = 0;
};

class DeploymentJob final : public ServedJob {
 public:
  // `spec` must outlive the object.
  DeploymentJob(const JobSpec& spec, SimaiServingOptions options)
      : spec_(spec), options_(std::move(options)) {}

  std::string model() const override { return options_.job.model.name; }

  uint32_t NumGpus(uint32_t gpus_per_server) const override {
    const StorageServer storage = {options_.fabric.storage_first_gpu};
    const bool has_storage =
        options_.fabric.load_weights == WeightSource::kStorage;
    return static_cast<uint32_t>(GpusOfDeployment(
        options_.job, options_.decode ? &*options_.decode : nullptr,
        has_storage ? &storage : nullptr, gpus_per_server));
  }

  absl::Status Place(const ClusterPart& part, NetworkFactory new_idle,
                     Warnings* warnings) override {
    topology_ = part.topology;
    options_.job.part = &*topology_;
    if (options_.decode) options_.decode->job.part = &*topology_;
    new_idle_ = std::move(new_idle);
    absl::StatusOr<std::unique_ptr<ReplicaTimes>> times =
        ReplicaTimes::Create(options_.job, warnings);
    if (!times.ok()) return AtKey(spec_, times.status());
    times_ = *std::move(times);
    options_.system = times_->system_name();
    // This finds what is wrong before any job runs.
    return AtKey(spec_, SetUp(new_idle_(), warnings).status());
  }

  ServingWork work() override {
    return {.begin =
                [this](std::unique_ptr<NetworkBackend> network) {
                  return Begin(std::move(network));
                },
            .go_on = [this] { return GoOn(); },
            .share_done = [this] { return ShareDone(); }};
  }

  void RecordNextRun(const OutputFolder& folder) override { folder_ = &folder; }

  ServedRow Served() const override {
    const ServingSummary& summary = run_.summary;
    ServedRow row{.requests = summary.requests,
                  .end = {},
                  .others = {{"queueing", summary.queueing, {}},
                             {"ttft", summary.ttft, {}},
                             {"tpot", summary.tpot, {}},
                             {"itl", summary.itl, {}}},
                  .end_to_end = {"e2e", summary.e2e, {}}};
    if (summary.kv_transfers > 0) {
      row.others.push_back({"kv_transfer", summary.kv_transfer, {}});
    }
    return row;
  }

  std::vector<NamedFile> TakeFiles(Warnings* warnings) override {
    warnings->insert(warnings->end(), left_out_.begin(), left_out_.end());
    return std::move(files_);
  }

 private:
  absl::StatusOr<std::unique_ptr<ServingSetup>> SetUp(
      std::unique_ptr<NetworkBackend> network, Warnings* warnings) {
    return ServingSetup::Create(
        options_.job, options_.decode, options_.fabric, warnings,
        {.network = std::move(network), .new_idle = new_idle_});
  }

  absl::Status Begin(std::unique_ptr<NetworkBackend> network) {
    Warnings ignored;  // Place() has told them.
    const LoadPoint& point = options_.points.front();
    ASTRA_ASSIGN_OR_RETURN(source_, SourceOf(options_, point));
    ASTRA_ASSIGN_OR_RETURN(setup_, SetUp(std::move(network), &ignored));
    counter_ = RequestCounter();
    ServingLoad load = {.source = source_.get(),
                        .in_flight = point.in_flight,
                        .seed = options_.seed,
                        .limits = options_.answers.limits,
                        .watchers = {&counter_},
                        .wants_distributions = true};
    if (folder_ != nullptr) {
      ASTRA_ASSIGN_OR_RETURN(record_, ServingRecord::Begin(options_, *folder_));
      folder_ = nullptr;
      for (ServingObserver* const each : record_->Watchers()) {
        load.watchers.push_back(each);
      }
    }
    ASTRA_ASSIGN_OR_RETURN(
        serving_,
        OngoingServing::Start(options_.job, *times_, load, setup_->parts()));
    return absl::OkStatus();
  }

  absl::StatusOr<bool> GoOn() {
    ASTRA_ASSIGN_OR_RETURN(const bool has_ended, serving_->GoOn());
    if (!has_ended) return false;
    ASTRA_RETURN_IF_ERROR(setup_->status());
    run_ = serving_->TakeRun();
    serving_.reset();
    if (record_ != nullptr) {
      left_out_ = record_->LeftOut(run_);
      files_ = record_->Files(run_, *setup_);
      record_.reset();
    }
    setup_.reset();
    return true;
  }

  double ShareDone() const {
    return static_cast<double>(counter_.ended()) /
           static_cast<double>(options_.num_requests());
  }

  const JobSpec& spec_;
  SimaiServingOptions options_;
  std::optional<Topology> topology_;  // The part of the job.
  NetworkFactory new_idle_;
  std::unique_ptr<ReplicaTimes> times_;
  const OutputFolder* folder_ = nullptr;  // Of the next run; null: no files.

  // These belong to the present run.
  std::unique_ptr<RequestSource> source_;
  std::unique_ptr<ServingSetup> setup_;
  RequestCounter counter_;
  std::unique_ptr<ServingRecord> record_;
  std::unique_ptr<OngoingServing> serving_;

  // These are kept from the run that ended last.
  ServingRun run_;
  std::vector<NamedFile> files_;
  Warnings left_out_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ServedJob>> ReadDeploymentJob(
    const JobSpec& spec, const RunOptions& options, const Topology& topology,
    Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(SimaiServingOptions serving,
                         ReadServingKeys(spec, options));
  warnings->insert(warnings->end(), serving.warnings.begin(),
                   serving.warnings.end());
  if (const std::optional<std::string> text =
          OtherGpus(serving.job.gpu.name, options.cluster_name(), topology)) {
    if (!options.gpu_mismatch) {
      return AtKey(spec, absl::InvalidArgumentError(*text));
    }
    warnings->push_back(fmt::format("job {}: {}", spec.name, *text));
  }
  std::unique_ptr<ServedJob> job =
      std::make_unique<DeploymentJob>(spec, std::move(serving));
  return job;
}

}  // namespace astra
