// Writes the command line with which an engine serves a planned replica.
//
// Sources of the options: vLLM, vllm/engine/arg_utils.py (EngineArgs) and
// docs.vllm.ai "Engine Arguments", 0.11 and later; SGLang,
// python/sglang/srt/server_args.py (ServerArgs) and docs.sglang.io "Server
// Arguments", 0.5; TensorRT-LLM, tensorrt_llm/commands/serve.py and
// nvidia.github.io/TensorRT-LLM "trtllm-serve", 1.0 and later. All of them are
// in every release of inputs/engines.

#ifndef ASTRA_CORE_APPS_SERVING_ENGINE_LAUNCH_H_
#define ASTRA_CORE_APPS_SERVING_ENGINE_LAUNCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "astra-core/apps/serving/serving_job.h"

namespace astra {

enum class PoolRole : uint8_t { kShared, kPrefill, kDecode };

struct EngineLaunch {
  const ServingJob& job;  // Model, engine, precision.
  ServingLayout layout;
  PoolRole role = PoolRole::kShared;
  int64_t longest = 0;  // Tokens of the longest request.
};

// Returns the command of one replica, an option a line, and adds to `notes`
// what the engine cannot do as the plan does. An engine that is none of the
// three has no command: the text is empty.
std::string LaunchCommand(const EngineLaunch& launch,
                          std::vector<std::string>* notes);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_ENGINE_LAUNCH_H_
