#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/base/append_format.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: gen_workload --model NAME|FILE --gpus N --global-batch N\n"
    "                    --seq-length N [options]\n"
    "       gen_workload --model NAME|FILE --phase prefill|decode [options]\n"
    "       gen_workload MODEL [CONFIG.json] --phase prefill|decode [options]\n"
    "\n"
    "Writes what one training iteration, or one inference step, of a model\n"
    "computes and communicates. AICB's names of the options work too.\n";

constexpr CommandExample kExamples[] = {
    {"gen_workload -m llama3-8b --gpu H100 --gpus 16 --tp 8 \\\n"
     "  --seq-length 8192 --global-batch 64 --format program -o llama3.yaml",
     "A training iteration of Llama 3 8B on 16 GPUs:"},
    {"gen_workload -m llama3-70b --gpu H100 --phase decode --gpus 8 \\\n"
     "  --tp 8 --batch 64 --seq-length 4096 --format program -o decode.yaml",
     "A decode step of 64 sequences on one server:"},
};

constexpr OptionSpec kOptions[] = {
    {"model", "m model_size", "NAME|FILE", "Model",
     "a bundled model (--list-models), a YAML file, or a config.json"},
    {"config", "c", "FILE", "Model",
     "JSON of AICB with the sizes of --model, or a config.json"},
    {"list-models", "", "", "Model", "print the bundled models and stop"},
    {"model-name", "", "NAME", "Model", "call it so"},
    {"num-layers", "", "N", "Model", "change the number of blocks"},
    {"hidden-size", "", "N", "Model", "change the hidden size"},
    {"num-attention-heads", "", "N", "Model",
     "change the heads, hidden size / N wide"},
    {"num-query-groups", "", "N", "Model", "change the key-value heads"},
    {"ffn-hidden-size", "", "N", "Model",
     "change the width of the feed-forward part"},
    {"swiglu", "gated_linear_unit", "", "Model", "a gated feed-forward part"},
    {"add-bias-linear", "", "", "Model", "biases on all linear layers"},
    {"vocab-size", "", "N", "Model", "change the vocabulary"},
    {"max-position-embeddings", "", "N", "Model",
     "change the longest sequence"},
    {"moe-enable", "M", "", "Model", "with experts (AICB)"},
    {"num-experts", "experts", "N", "Model", "change the experts"},
    {"moe-router-topk", "topk", "N", "Model", "change the experts of a token"},
    {"moe-ffn-hidden-size", "", "N", "Model", "change the width of an expert"},
    {"n-shared-expert", "", "N", "Model", "change the shared experts"},
    {"n-dense-layers", "n_dense_layer", "N", "Model",
     "change the first blocks without experts"},
    {"q-lora-rank", "", "N", "Model",
     "latent attention: rank of the queries, 0: none"},
    {"kv-lora-rank", "", "N", "Model",
     "latent attention: rank of keys and values"},
    {"qk-nope-dim", "qk_nope_head_dim", "N", "Model",
     "latent attention: a head's width without positions"},
    {"qk-rope-dim", "qk_rope_head_dim", "N", "Model",
     "latent attention: a head's width with positions"},
    {"v-head-dim", "", "N", "Model", "latent attention: width of a value"},

    {"gpus", "world-size w", "N", "Layout", "GPUs in all"},
    {"tp", "t tensor_model_parallel_size", "N", "Layout",
     "tensor parallelism (default 1)"},
    {"cp", "context_parallel_size", "N", "Layout", "context parallelism"},
    {"pp", "l pipeline_model_parallel pipeline_model_parallel_size", "N",
     "Layout", "pipeline stages"},
    {"vpp", "", "N", "Layout", "model chunks of each stage"},
    {"dp", "", "N", "Layout", "data parallelism; only checked: it follows"},
    {"ep", "e expert_model_parallel_size", "N", "Layout", "expert parallelism"},
    {"etp", "expert_tensor_parallel_size", "N", "Layout",
     "tensor parallelism of experts (default: TP; inference with EP: 1)"},
    {"schedule", "", "NAME", "Layout", ""},
    {"stage-layers", "", "N,N,...", "Layout",
     "the blocks of each stage, or of each chunk as a micro-batch goes"},
    {"first-stage-layers", "decoder_first_pipeline_num_layers", "N", "Layout",
     "the blocks of the first stage"},
    {"last-stage-layers", "decoder_last_pipeline_num_layers", "N", "Layout",
     "the blocks of the last stage"},
    {"account-for-embedding", "account_for_embedding_in_pipeline_split", "",
     "Layout", "the embedding counts as a block of the first stage"},
    {"account-for-loss", "account_for_loss_in_pipeline_split", "", "Layout",
     "the logits and the loss count as a block of the last stage"},
    {"sp", "enable_sequence_parallel sp_enable", "", "Layout",
     "sequence parallelism"},
    {"cp-method", "", "NAME", "Layout",
     "ring (default), all-gather, all-to-all"},
    {"order", "", "NAME", "Layout",
     "which ranks are neighbours: the first dimension's (default "
     "tp-cp-ep-dp-pp)"},
    {"use-tp-pp-dp-mapping", "", "", "Layout", "--order tp-cp-ep-pp-dp"},

    {"micro-batch", "b", "N", "Batch",
     "sequences of a micro-batch (default 1)"},
    {"global-batch", "", "N", "Batch", "sequences of an iteration"},
    {"seq-length", "s seq_len", "N", "Batch",
     "positions of a sequence, or of the context of a decode step"},
    {"phase", "p", "NAME", "Batch", "training (default), prefill or decode"},
    {"batch", "", "N", "Batch",
     "sequences of a replica's inference step (default: micro-batch)"},
    {"cached", "", "N", "Batch", "positions in the KV cache before a prefill"},
    {"engine", "", "NAME", "Batch",
     "whose fused kernels an inference step has, as in simai_serving: vllm "
     "(default), sglang, trtllm, a release (vllm@0.14), or none: each operator "
     "is a kernel, as in AICB"},

    {"framework", "frame", "NAME|FILE", "Training",
     "whose facts are the defaults of the options below: megatron (default), "
     "NAME@RELEASE (--list-frameworks), or a YAML file"},
    {"list-frameworks", "", "", "Training",
     "print the known frameworks and stop"},
    {"zero", "stage zero_stage", "N", "Training",
     "ZeRO stage (default: megatron 1, deepspeed and fsdp 3)"},
    {"use-distributed-optimizer", "", "", "Training",
     "ZeRO 1, the default of megatron"},
    {"recompute", "recompute-granularity", "NAME", "Training",
     "none (default), selective or full"},
    {"recompute-activations", "", "", "Training", "--recompute selective"},
    {"recompute-modules", "", "NAME,...", "Training",
     "--recompute selective of core_attn, layernorm, mla_up_proj, mlp, moe, "
     "moe_act, shared_experts, or of op (default: the framework's)"},
    {"recompute-num-layers", "", "N", "Training",
     "--recompute full of the first N blocks of each model chunk"},
    {"recompute-method", "", "NAME", "Training",
     "of these N: block (default), or uniform: all blocks, N at a time"},
    {"dtype", "", "NAME", "Training",
     "bfloat16 (default), float16, fp8, fp8_block, mxfp8 or nvfp4"},
    {"zero-group", "", "N", "Training",
     "with ZeRO 1, N neighbours share the states (default: all of DP)"},
    {"optimizer-workspace", "", "N", "Training",
     "bytes a parameter while it runs: 0, fused (default); AdamW unfused: 8"},
    {"transformer-engine", "", "RELEASE", "Training",
     "the release that runs products, such as 2.11 (megatron's: 2.9); it "
     "decides which buffers are kept",
     "wgrad-buffers"},
    {"weights-in-experts", "", "", "Training",
     "experts apply the router's probabilities, so that their outputs need not "
     "be kept (megatron from 0.13 on)"},
    {"grad-dtype", "", "NAME", "Training",
     "of reduced gradients: fp32 (megatron's) or bf16 (the others')"},
    {"moment-dtype", "exp-avg-dtype", "NAME", "Training",
     "of Adam's moments: fp32 (default) or bf16"},
    {"fp8-activation-inputs", "activation-func-fp8-input-store", "", "Training",
     "keep the inputs of GELU and SwiGLU in FP8"},
    {"overlap", "", "NAME,...", "Training",
     "none, or gradients, parameters, tp, shared_experts: hide these where the "
     "layout has them (default: the framework's)"},
    {"overlap-grad-reduce", "", "", "Training",
     "reduce gradients behind the last backward pass"},
    {"overlap-param-gather", "", "", "Training",
     "gather parameters behind the first forward pass"},
    {"bucket-size", "ddp_bucket_size", "N", "Training",
     "parameters of one such collective, at least those of a block (default: "
     "40 or DP million)"},
    {"no-message-overlap", "no-overlap-p2p-communication", "", "Training",
     "with --vpp, no memory for messages that are under way during "
     "computation"},
    {"tp-overlap", "tp_comm_overlap", "", "Training",
     "tensor-parallel collectives behind parts of their products"},
    {"shared-expert-overlap", "moe_shared_expert_overlap", "", "Training",
     "shared experts run while tokens are on their way"},
    {"use-flash-attn", "flash_attn", "", "Training", "the default"},
    {"no-flash-attn", "", "", "Training", "keep the scores of attention"},
    {"fused-loss", "cross_entropy_loss_fusion", "", "Training",
     "the cross entropy is one kernel, which keeps no logits in FP32"},
    {"moe-skew", "", "X|LAW", "Training",
     "the busiest expert rank has 1 + X times the mean load; "
     "power-law:1.2: the loads of experts spread by that exponent"},
    {"moe-capacity", "", "X", "Training",
     "each expert is padded, or cut, to X times the mean load"},
    {"fp8-dispatch", "", "", "Training", "tokens go to experts in FP8"},
    {"mtp-num-layers", "", "N", "Training",
     "layers that predict further tokens, as of DeepSeek-V3 (default 0)"},
    {"make-vocab-size-divisible-by", "", "N", "Training",
     "pad the vocabulary to N x TP (default: megatron 128, else 0: no)"},

    {"gpu-type", "gpu", "NAME|FILE", "Times", "the GPU (--list-gpus)"},
    {"list-gpus", "", "", "Times", "print the known GPUs and stop"},
    {"operator-table", "", "FILE,...", "Times",
     "measured operators or kernels as CSV, or trees of simai_fit --train"},
    {"table-gpu", "", "NAME", "Times",
     "the GPU of tables that do not say on which they were measured"},
    {"load", "", "X", "Times",
     "speed of products and attention; 1: as each alone (default: GPU's)"},
    {"attention-speed", "", "X", "Times",
     "of attention's kernels to those of the GPU's file; 0.5: the first "
     "FlashAttention"},
    {"comp-filepath", "", "FILE", "Times",
     "times of whole modules that AICB measured (AIOB)"},
    {"aiob-enable", "a aiob", "", "Times",
     "times of --comp-filepath; without it, a warning: no GPU is measured"},

    {"format", "", "NAME", "Output",
     "simai (default), program (compact YAML), vidur or aicb-log"},
    {"pp-rank", "", "N", "Output",
     "the stage that SimAI's text is of (default: the slowest)"},
    {"output", "o", "FILE", "Output",
     "the file to write (default: named after the setup)"},
    {"computation-enable", "", "", "Output",
     "with matrix products, in an aicb-log"},
    {"result-dir", "r", "DIR", "Output",
     "the folder of a file that --output does not name"},
    {"enable-visual", "", "", "Output",
     "also write a pie of the communication, beside the file, as .html"},
    {"explain", "", "", "Output", "print what it is made of"},
    {"force", "", "", "Output",
     "write it even if the estimate of the memory is above what is free"},

    {"begin-size", "", "N", "Collective test of AICB",
     "the error names the command line of simai_collective"},
    {"end-size", "", "N", "Collective test of AICB", "likewise"},
    {"test-comm", "", "NAME", "Collective test of AICB", "likewise"},
    {"iter-num", "", "N", "Collective test of AICB", "likewise"},
    {"multi-all-reduce-enable", "", "N", "Collective test of AICB", "likewise"},

    {"epoch-num", "", "N", "Without effect", "one iteration is written"},
    {"workload-only", "", "", "Without effect", "a warning"},
    {"moe-grouped-gemm", "grouped_gemm", "", "Without effect", "a warning"},
    {"amp-enabled", "", "", "Without effect", "a warning"},
    {"overlap-version", "", "", "Without effect", "a warning"},
    {"bias-gelu-fusion", "", "", "Without effect", "a warning"},
    {"openai-gelu", "", "", "Without effect", "a warning"},
    {"onnx-safe", "", "", "Without effect", "a warning"},
    {"squared-relu", "", "", "Without effect", "a warning"},
    {"activation-func", "", "NAME", "Without effect", "a warning"},
    {"contiguous-gradients", "", "", "Without effect", "a warning"},
    {"reduce-bucket-size", "", "N", "Without effect", "a warning"},
    {"allgather-bucket-size", "", "N", "Without effect", "a warning"},
    {"prefetch-bucket-size", "", "N", "Without effect", "a warning"},
    {"param-persistence-threshold", "", "N", "Without effect", "a warning"},
    {"model-persistence-threshold", "", "N", "Without effect", "a warning"},
    {"max-live-parameters", "", "N", "Without effect", "a warning"},
    {"aiob-forward-loops", "f", "N", "Without effect", "a warning"},
    {"moe-routing-strategy", "", "NAME", "Without effect", "a warning"},
};

// Returns the help of --schedule.
std::string ScheduleHelp() {
  std::string help;
  for (const PipelineSchedule schedule : PipelineSchedules()) {
    AppendFormat(&help, "{}{}", help.empty() ? "" : ", ", Name(schedule));
  }
  return help + " (default: by --vpp)";
}

}  // namespace

absl::Span<const OptionSpec> GenWorkloadOptionSpecs() {
  static const std::string schedule_help = ScheduleHelp();
  static const std::vector<OptionSpec> all = [] {
    std::vector<OptionSpec> specs(std::begin(kOptions), std::end(kOptions));
    for (OptionSpec& spec : specs) {
      if (spec.name == "schedule") spec.help = schedule_help;
    }
    return specs;
  }();
  return all;
}

std::string GenWorkloadHelp() {
  return HelpText(kUsage, GenWorkloadOptionSpecs()) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> GenWorkloadExamples() { return kExamples; }

}  // namespace astra
