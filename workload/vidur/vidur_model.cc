#include "workload/vidur/vidur_model.h"

#include <cmath>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/units.h"
#include "fmt/core.h"

namespace astra {
namespace {

// clang-format off
constexpr VidurModel kModels[] = {
    {"meta-llama/Llama-2-7b-hf", 32, 32, 32, 4096, 11008, 32768},
    {"meta-llama/Llama-2-70b-hf", 80, 64, 8, 8192, 28672, 32768},
    {"meta-llama/Meta-Llama-3-8B", 32, 32, 8, 4096, 14336, 128256},
    {"meta-llama/Meta-Llama-3-70B", 80, 64, 8, 8192, 28672, 128256},
    {"codellama/CodeLlama-34b-Instruct-hf", 48, 64, 8, 8192, 22016, 32768},
    {"internlm/internlm-20b", 60, 40, 40, 5120, 13824, 103168},
    {"internlm/internlm2-20b", 48, 48, 8, 6144, 16384, 92544},
    {"microsoft/phi-2", 32, 32, 32, 2560, 10240, 51200, false, false},
    {"Qwen/Qwen-72B", 80, 64, 64, 8192, 24576, 152064},
};
// clang-format on

constexpr VidurDevice kDevices[] = {{"a40", 45}, {"a100", 80}, {"h100", 80}};

template <class Entry, size_t kSize>
absl::StatusOr<Entry> Find(const Entry (&entries)[kSize], std::string_view what,
                           std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) {
    if (IsNamed(name, entry.name, {})) return entry;
    names.push_back(entry.name);
  }
  return absl::InvalidArgumentError(UnknownName(what, name, names));
}

int64_t HeadDim(const VidurModel& model) { return model.hidden / model.heads; }

// Returns the key heads of one GPU. GPUs hold copies where there are fewer.
int64_t LocalKvHeads(const VidurReplica& replica) {
  return (replica.model.kv_heads + replica.tensor - 1) / replica.tensor;
}

int64_t WeightsOfLayer(const VidurReplica& replica) {
  const VidurModel& model = replica.model;
  const int64_t heads =
      2 * (model.heads / replica.tensor) + 2 * LocalKvHeads(replica);
  return model.hidden * HeadDim(model) * heads +
         (model.gated ? 3 : 2) * model.hidden * model.expanded / replica.tensor;
}

}  // namespace

absl::StatusOr<VidurModel> FindVidurModel(std::string_view name) {
  return Find(kModels, "model of Vidur", name);
}

absl::StatusOr<VidurDevice> FindVidurDevice(std::string_view name) {
  return Find(kDevices, "device of Vidur", name);
}

absl::Status CheckVidurReplica(const VidurReplica& replica) {
  const VidurModel& model = replica.model;
  if (model.heads % replica.tensor != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "--replica_config_tensor_parallel_size {} does not divide the {} heads "
        "of {}",
        replica.tensor, model.heads, model.name));
  }
  if (model.layers % replica.stages != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "--replica_config_num_pipeline_stages {} does not divide the {} layers "
        "of {}",
        replica.stages, model.layers, model.name));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> VidurBlocks(const VidurReplica& replica,
                                    int64_t max_tokens) {
  const VidurModel& model = replica.model;
  const int64_t weights =
      2 * WeightsOfLayer(replica) * (model.layers / replica.stages);
  const int64_t cache =
      4 * HeadDim(model) * LocalKvHeads(replica) * max_tokens * model.layers;
  const double room = static_cast<double>(replica.device.memory_gb) *
                          kBytesPerGib * (1 - replica.memory_margin) -
                      static_cast<double>(weights);
  const auto requests =
      static_cast<int64_t>(std::floor(room / static_cast<double>(cache)));
  if (requests < 1) {
    return absl::FailedPreconditionError(fmt::format(
        "{} GiB of a {} have no room for a request of {} tokens beside {:.1f} "
        "GiB of weights: the cache of one takes {:.1f} GiB",
        replica.device.memory_gb, replica.device.name, max_tokens,
        static_cast<double>(weights) / kBytesPerGib,
        static_cast<double>(cache) / kBytesPerGib));
  }
  return max_tokens / replica.block_tokens * requests * replica.stages;
}

}  // namespace astra
