#include "astra-core/apps/serving/engine_launch.h"

#include <optional>
#include <string_view>
#include <utility>

#include "fmt/core.h"

namespace astra {
namespace {

// A command with an option a line.
class CommandLines {
 public:
  explicit CommandLines(std::string program) : text_(std::move(program)) {}

  void Add(std::string_view option, std::string_view value = "") {
    text_ += fmt::format(" \\\n  {}", option);
    if (!value.empty()) text_ += fmt::format(" {}", value);
  }
  void Add(std::string_view option, int64_t value) {
    Add(option, fmt::format("{}", value));
  }
  std::string text() const { return text_ + "\n"; }

 private:
  std::string text_;
};

// Adds the share of the memory, unless the engine has a rule of its own.
void AddMemoryShare(std::string_view option, const ServingJob& job,
                    CommandLines& lines) {
  const double share = job.engine.serving.memory_share;
  if (share > 0) lines.Add(option, fmt::format("{:g}", share));
}

// Returns the name at Hugging Face, where the model's file has it.
std::string ModelName(const ModelSpec& model) {
  constexpr std::string_view kHub = "https://huggingface.co/";
  for (const std::string& source : model.sources) {
    if (source.rfind(kHub, 0) == 0) return source.substr(kHub.size());
  }
  return model.name;
}

// Returns the name of a quantisation that the engine makes while it loads.
std::optional<std::string_view> QuantizationOf(
    const ServingJob& job, std::vector<std::string>* notes) {
  switch (job.layout.precision) {
    case Precision::kFp8:
      return "fp8";
    case Precision::kFp8Block:
    case Precision::kMxfp8:
    case Precision::kNvfp4:
      notes->push_back(fmt::format(
          "the model must be a checkpoint in {}: no option makes it so",
          Name(job.layout.precision)));
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::string VllmCommand(const EngineLaunch& launch,
                        std::vector<std::string>* notes) {
  const ServingJob& job = launch.job;
  const ServingLayout& layout = launch.layout;
  CommandLines lines("vllm serve " + ModelName(job.model));
  lines.Add("--tensor-parallel-size", layout.tensor);
  lines.Add("--pipeline-parallel-size", layout.pipeline);
  if (layout.attention_ranks > 1) {
    lines.Add("--data-parallel-size", layout.attention_ranks);
  }
  if (layout.expert > 1) {
    lines.Add("--enable-expert-parallel");
    if (layout.expert < layout.tensor) {
      notes->push_back(fmt::format(
          "vLLM has no EP {} within TP {}: --enable-expert-parallel makes it "
          "{}",
          layout.expert, layout.tensor, layout.tensor));
    }
  }
  if (const auto quantization = QuantizationOf(job, notes)) {
    lines.Add("--quantization", *quantization);
  }
  lines.Add("--max-model-len", launch.longest);
  lines.Add("--max-num-batched-tokens", job.options.max_batched_tokens);
  lines.Add("--max-num-seqs", job.options.max_sequences);
  lines.Add("--block-size", job.options.block_tokens);
  AddMemoryShare("--gpu-memory-utilization", job, lines);
  if (launch.role != PoolRole::kShared) {
    lines.Add("--kv-transfer-config",
              R"('{"kv_connector": "NixlConnector", "kv_role": "kv_both"}')");
    notes->emplace_back(
        "vLLM's pools need a proxy in front that sends a request to both, such "
        "as that of llm-d or of vLLM's own examples");
  }
  return lines.text();
}

std::string SglangCommand(const EngineLaunch& launch,
                          std::vector<std::string>* notes) {
  const ServingJob& job = launch.job;
  const ServingLayout& layout = launch.layout;
  CommandLines lines("python -m sglang.launch_server");
  lines.Add("--model-path", ModelName(job.model));
  // Its TP counts the GPUs of all ranks of attention.
  lines.Add("--tp-size", layout.tensor * layout.attention_ranks);
  lines.Add("--pp-size", layout.pipeline);
  if (layout.attention_ranks > 1) {
    lines.Add("--dp-size", layout.attention_ranks);
    lines.Add("--enable-dp-attention");
  }
  if (layout.expert > 1) lines.Add("--ep-size", layout.expert);
  if (const auto quantization = QuantizationOf(job, notes)) {
    lines.Add("--quantization", *quantization);
  }
  lines.Add("--context-length", launch.longest);
  lines.Add("--chunked-prefill-size", job.options.max_batched_tokens);
  lines.Add("--max-running-requests", job.options.max_sequences);
  AddMemoryShare("--mem-fraction-static", job, lines);
  if (launch.role != PoolRole::kShared) {
    lines.Add("--disaggregation-mode",
              launch.role == PoolRole::kPrefill ? "prefill" : "decode");
  }
  return lines.text();
}

std::string TrtllmCommand(const EngineLaunch& launch,
                          std::vector<std::string>* notes) {
  const ServingJob& job = launch.job;
  const ServingLayout& layout = launch.layout;
  CommandLines lines("trtllm-serve " + ModelName(job.model));
  lines.Add("--tp_size", layout.tensor * layout.attention_ranks);
  lines.Add("--pp_size", layout.pipeline);
  if (layout.attention_ranks > 1) {
    notes->emplace_back(
        "trtllm-serve also needs `enable_attention_dp: true` in the file of "
        "--extra_llm_api_options");
  }
  if (layout.expert > 1) lines.Add("--ep_size", layout.expert);
  if (job.layout.precision != Precision::kBf16) {
    notes->push_back(
        fmt::format("the model must be a checkpoint in {}: no option of "
                    "trtllm-serve makes it so",
                    Name(job.layout.precision)));
  }
  lines.Add("--max_seq_len", launch.longest);
  lines.Add("--max_num_tokens", job.options.max_batched_tokens);
  lines.Add("--max_batch_size", job.options.max_sequences);
  AddMemoryShare("--kv_cache_free_gpu_memory_fraction", job, lines);
  if (launch.role != PoolRole::kShared) {
    notes->emplace_back(
        "trtllm-serve also needs cache_transceiver_config in the file of "
        "--extra_llm_api_options, and `trtllm-serve disaggregated` in front");
  }
  return lines.text();
}

}  // namespace

std::string LaunchCommand(const EngineLaunch& launch,
                          std::vector<std::string>* notes) {
  const std::string& name = launch.job.engine.name;
  if (name == "vllm") return VllmCommand(launch, notes);
  if (name == "sglang") return SglangCommand(launch, notes);
  if (name == "trtllm") return TrtllmCommand(launch, notes);
  notes->push_back(fmt::format("how {} is started is not known here", name));
  return "";
}

}  // namespace astra
