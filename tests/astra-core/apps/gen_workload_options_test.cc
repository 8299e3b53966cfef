#include "astra-core/apps/gen_workload_options.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/ranges.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::ParseWords;
using ::astra::testing::ScheduleList;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kTraining =
    "-m llama3-8b --world-size 8 --global-batch 8 --seq-length 128 --gpu H100";
constexpr std::string_view kMoe =
    "-m mixtral-8x7b --world-size 8 --global-batch 8 --seq-length 128 --gpu "
    "H100";
constexpr std::string_view kPrefill =
    "-m llama3-8b --phase prefill --world-size 8 --seq-length 128 --gpu H100";

absl::StatusOr<GenWorkloadOptions> TryRead(const std::string& arguments) {
  return ReadGenWorkloadOptions(
      ValueOrDie(ParseArguments(GenWorkloadOptionSpecs(), arguments)));
}
GenWorkloadOptions Read(const std::string& arguments) {
  return ValueOrDie(TryRead(arguments));
}

// Options behind those of a command line that is right.
absl::StatusOr<GenWorkloadOptions> TryAdd(std::string_view base,
                                          std::string_view more) {
  return TryRead(fmt::format("{} {}", base, more));
}
TrainingSetup Training(std::string_view more, std::string_view base) {
  return std::get<TrainingSetup>(ValueOrDie(TryAdd(base, more)).setup);
}
TrainingSetup Training(std::string_view more) {
  return Training(more, kTraining);
}
ModelSpec ModelOf(const std::string& arguments) {
  return Read(arguments +
              " --world-size 8 --global-batch 8 --seq-length 128 --gpu H100")
      .model;
}

auto Says(std::string_view message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
}

std::string Text(const TrainingSetup& s) {
  return fmt::format(
      "{} {} {} {} {} {} {} | {} {} {} | {} | {} {} {} {} {} {} {} {} {} {} {} "
      "{}",
      s.world_size, s.tensor, s.context, s.pipeline, s.virtual_stages, s.expert,
      s.expert_tensor.value_or(-1), s.micro_batch, s.global_batch, s.positions,
      fmt::join(s.stage_layers, ","), s.sequence_parallel,
      static_cast<int>(s.context_method), static_cast<int>(s.precision),
      s.flash_attention, static_cast<int>(s.recompute),
      static_cast<int>(s.zero), s.gradient_bytes, s.overlap_gradients,
      s.overlap_parameters, s.expert_load, s.fp8_dispatch,
      s.vocabulary_divisor);
}

TEST(GenWorkloadOptionsTest, EveryOptionOfTheLayoutSetsItsField) {
  EXPECT_EQ(Text(Training("")),
            "8 1 1 1 1 1 -1 | 1 8 128 |  | false 0 1 true 0 1 4 false false 1 "
            "false 128");
  EXPECT_EQ(Text(Training("--tp 2 --cp 3 --pp 4 --vpp 5 --micro-batch 6 --sp "
                          "--stage-layers 20,4,4,4 --cp-method all-gather")),
            "8 2 3 4 5 1 -1 | 6 8 128 | 20,4,4,4 | true 1 1 true 0 1 4 false "
            "false 1 false 128");
  EXPECT_EQ(Name(Training("--pp 2 --tp 2 --order tp-cp-ep-pp-dp").order),
            "tp-cp-ep-pp-dp");
  EXPECT_EQ(Name(Training("--pp 2 --tp 2 --use-tp-pp-dp-mapping").order),
            "tp-cp-ep-pp-dp");
  EXPECT_EQ(Training("--cp 2 --cp-method all-to-all").context_method,
            ContextMethod::kAllToAll);
  const TrainingSetup moe = Training("--ep 7 --etp 8", kMoe);
  EXPECT_EQ(moe.expert, 7);
  EXPECT_EQ(moe.expert_tensor, 8);
}

TEST(GenWorkloadOptionsTest, EveryOptionOfThePipelineSetsItsField) {
  const TrainingSetup plain = Training("--pp 4");
  EXPECT_EQ(plain.schedule, std::nullopt);
  EXPECT_EQ(plain.first_stage_layers, std::nullopt);
  EXPECT_FALSE(plain.account_for_embedding);
  for (const PipelineSchedule schedule : PipelineSchedules()) {
    EXPECT_EQ(
        Training(fmt::format("--pp 4 --schedule {}", Name(schedule))).schedule,
        schedule);
  }
  for (const char* names : {"--first-stage-layers 3 --last-stage-layers 5",
                            "--decoder-first-pipeline-num-layers 3 "
                            "--decoder-last-pipeline-num-layers 5"}) {
    const TrainingSetup setup = Training(fmt::format("--pp 4 {}", names));
    EXPECT_EQ(setup.first_stage_layers, 3);
    EXPECT_EQ(setup.last_stage_layers, 5);
  }
  EXPECT_TRUE(Training("--pp 4 --account-for-embedding").account_for_embedding);
  EXPECT_TRUE(Training("--pp 4 --account-for-embedding-in-pipeline-split")
                  .account_for_embedding);
  EXPECT_TRUE(Training("--pp 4 --account-for-loss").account_for_loss);
  EXPECT_TRUE(
      Training("--pp 4 --account-for-loss-in-pipeline-split").account_for_loss);
}

TEST(GenWorkloadOptionsTest, EveryOptionOfOverlapSetsItsField) {
  const TrainingSetup plain = Training("");
  EXPECT_EQ(plain.bucket_size, std::nullopt);
  EXPECT_FALSE(plain.tensor_overlap);
  EXPECT_FALSE(plain.shared_expert_overlap);
  EXPECT_EQ(Training("--overlap-grad-reduce --bucket-size 7").bucket_size, 7);
  EXPECT_EQ(Training("--overlap-param-gather --ddp-bucket-size 7").bucket_size,
            7);
  EXPECT_TRUE(Training("--tp-overlap").tensor_overlap);
  EXPECT_TRUE(Training("--tp-comm-overlap").tensor_overlap);
  const TrainingSetup these =
      Training("--framework megatron-core --overlap parameters,tp --tp 2 --sp");
  EXPECT_FALSE(these.overlap_gradients);
  EXPECT_TRUE(these.overlap_parameters);
  EXPECT_TRUE(these.tensor_overlap);
  EXPECT_FALSE(
      Training("--framework megatron-core --overlap none").overlap_gradients);
  EXPECT_TRUE(Training("--shared-expert-overlap").shared_expert_overlap);
  EXPECT_TRUE(Training("--moe-shared-expert-overlap").shared_expert_overlap);
}

TEST(GenWorkloadOptionsTest, EveryOptionOfTrainingSetsItsField) {
  EXPECT_EQ(Text(Training("--dtype fp8 --no-flash-attn --recompute full "
                          "--zero 1 --grad-dtype bf16 --overlap-grad-reduce "
                          "--overlap-param-gather "
                          "--make-vocab-size-divisible-by 64")),
            "8 1 1 1 1 1 -1 | 1 8 128 |  | false 0 2 false 2 1 2 true true 1 "
            "false 64");
  EXPECT_EQ(Training("--recompute-activations").recompute,
            Recompute::kSelective);
  EXPECT_EQ(Training("--recompute none").recompute, Recompute::kNone);
  EXPECT_EQ(Training("--recompute full").recompute_layers, std::nullopt);
  const TrainingSetup some = Training("--recompute-num-layers 3");
  EXPECT_EQ(some.recompute, Recompute::kFull);
  EXPECT_EQ(some.recompute_method, RecomputeMethod::kBlock);
  EXPECT_EQ(some.recompute_layers, 3);
  EXPECT_EQ(Training("--recompute-granularity full --recompute-num-layers 3 "
                     "--recompute-method uniform")
                .recompute_method,
            RecomputeMethod::kUniform);
  const TrainingSetup modules = Training("--recompute-modules mlp");
  EXPECT_EQ(modules.recompute, Recompute::kSelective);
  EXPECT_EQ(modules.recompute_modules, RecomputeModule::kMlp);
  EXPECT_EQ(Training("--recompute selective").recompute_modules,
            RecomputeModule::kCoreAttention);
  EXPECT_EQ(Training("--recompute selective --framework torchtitan")
                .recompute_modules,
            RecomputeModule::kOperators);
  // Of what the framework names, the model has norms only.
  EXPECT_EQ(
      Training("--recompute selective --framework hai-llm").recompute_modules,
      RecomputeModule::kLayerNorm);
  EXPECT_EQ(Training("--exp-avg-dtype bf16").moment_bytes, 2);
  EXPECT_TRUE(Training("--fp8-activation-inputs").fp8_activation_inputs);
  for (const char* dtype : {"bfloat16", "bf16", "float16", "fp16"}) {
    EXPECT_EQ(Training(fmt::format("--dtype {}", dtype)).precision,
              Precision::kBf16);
  }
  EXPECT_EQ(Training("--ep 2 --moe-skew 0.5", kMoe).expert_load, 1.5);
  EXPECT_EQ(Training("--moe-skew power-law:1.2", kMoe).expert_load, 1);
  EXPECT_GT(Training("--ep 2 --moe-skew power-law:1.2", kMoe).expert_load, 1);
  EXPECT_EQ(Training("--moe-capacity 1.25", kMoe).expert_load, 1.25);
  EXPECT_TRUE(Training("--ep 2 --fp8-dispatch", kMoe).fp8_dispatch);
  EXPECT_EQ(Training("").zero_group, std::nullopt);
  EXPECT_EQ(Training("").optimizer_workspace, 0);
  EXPECT_FALSE(Training("").fused_loss);
  const TrainingSetup setup =
      Training("--zero-group 2 --optimizer-workspace 8 --fused-loss");
  EXPECT_EQ(setup.zero_group, 2);
  EXPECT_EQ(setup.optimizer_workspace, 8);
  EXPECT_TRUE(setup.fused_loss);
}

TEST(GenWorkloadOptionsTest, FrameworksHaveTheirDefaults) {
  for (const char* name : {"megatron", "Megatron"}) {
    const TrainingSetup setup = Training(fmt::format("--framework {}", name));
    EXPECT_EQ(Text(setup), Text(Training("")));
  }
  for (const char* name : {"deepspeed", "DeepSpeed", "fsdp"}) {
    const TrainingSetup setup = Training(fmt::format("--frame {}", name));
    EXPECT_EQ(setup.zero, Zero::kParameters) << name;
    EXPECT_EQ(setup.gradient_bytes, 2) << name;
    EXPECT_EQ(setup.vocabulary_divisor, 0) << name;
  }
  EXPECT_EQ(Training("--frame DeepSpeed --stage 2").zero, Zero::kGradients);
  // AICB's DeepSeek is Megatron with DeepSeek's dispatch.
  const TrainingSetup setup = Training("--frame DeepSeek", kMoe);
  EXPECT_TRUE(setup.fp8_dispatch);
  EXPECT_EQ(setup.zero, Zero::kOptimizer);
  EXPECT_EQ(setup.gradient_bytes, 4);
}

TEST(GenWorkloadOptionsTest, AFrameworkHidesWhatTheLayoutHas) {
  const std::string bridge = "--framework megatron-bridge --tp 2 ";
  EXPECT_TRUE(Training(bridge).overlap_gradients);
  EXPECT_TRUE(Training(bridge).overlap_parameters);
  EXPECT_FALSE(Training(bridge).tensor_overlap);
  EXPECT_TRUE(Training(bridge + "--sp").tensor_overlap);
  EXPECT_FALSE(Training(bridge + "--zero 0").overlap_parameters);
  EXPECT_FALSE(Training(bridge + "--zero 2").overlap_gradients);
}

TEST(GenWorkloadOptionsTest, OptionsGoBeforeTheFramework) {
  const std::string evo = "--framework internevo ";
  EXPECT_EQ(Training(evo).optimizer_workspace, 8);
  EXPECT_EQ(Training(evo + "--optimizer-workspace 0").optimizer_workspace, 0);
  EXPECT_EQ(Training(evo + "--grad-dtype fp32").gradient_bytes, 4);
}

TEST(GenWorkloadOptionsTest, TransformerEngineIsThatOfTheFrameworkOrAsAsked) {
  EXPECT_EQ(Training("--framework megatron@0.12").transformer_engine,
            (Release{2, 1}));
  EXPECT_EQ(Training("--transformer-engine 2.11").transformer_engine,
            (Release{2, 11}));
  EXPECT_TRUE(Training("--framework fsdp").transformer_engine.empty());
  EXPECT_THAT(
      TryAdd(kTraining, "--transformer-engine new"),
      Says("--transformer-engine is \"new\": expected a release such as 2.11"));
  EXPECT_THAT(
      TryAdd(kTraining, "--framework fsdp --transformer-engine 2.11"),
      Says("--transformer-engine has no effect with --framework fsdp: its "
           "products run elsewhere"));
}

// llama2-7b has 32 blocks.
TEST(GenWorkloadOptionsTest, LastStagesHaveTheBlocksThatAreOver) {
  const std::string six =
      "-m llama2-7b --gpus 6 --pp 6 --global-batch 6 --seq-length 4096 ";
  const auto stages = [&](const std::string& options) {
    return std::get<TrainingSetup>(Read(six + options).setup).stage_layers;
  };
  EXPECT_THAT(stages("--framework internevo"), ElementsAre(5, 5, 5, 5, 6, 6));
  EXPECT_THAT(stages("--framework megatron"), IsEmpty());
  EXPECT_THAT(stages("--framework internevo --first-stage-layers 2"),
              IsEmpty());
}

TEST(GenWorkloadOptionsTest, InferenceSetsItsFields) {
  const GenWorkloadOptions options = Read(
      "-m deepseek-v3 --phase prefill --world-size 64 --tp 2 --pp 4 --ep 8 "
      "--etp 3 --batch 5 --seq-length 6 --cached 7 --dtype fp8 --moe-skew 1 "
      "--fp8-dispatch --gpu H100");
  const auto& setup = std::get<InferenceSetup>(options.setup);
  EXPECT_EQ(setup.phase, InferencePhase::kPrefill);
  EXPECT_EQ(setup.world_size, 64);
  EXPECT_EQ(setup.tensor, 2);
  EXPECT_EQ(setup.pipeline, 4);
  EXPECT_EQ(setup.expert, 8);
  EXPECT_EQ(setup.expert_tensor, 3);
  EXPECT_EQ(setup.batch, 5);
  EXPECT_EQ(setup.positions, 6);
  EXPECT_EQ(setup.cached, 7);
  EXPECT_EQ(setup.precision, Precision::kFp8);
  EXPECT_EQ(setup.expert_load, 2);
  EXPECT_TRUE(setup.fp8_dispatch);
  // One kernel does not heat the GPU up.
  EXPECT_EQ(options.load, 1);

  const GenWorkloadOptions decode = Read(
      "-m llama3-8b --phase decode --world-size 8 --seq-length 9 "
      "--micro_batch 32 --gpu H100");
  EXPECT_EQ(std::get<InferenceSetup>(decode.setup).phase,
            InferencePhase::kDecode);
  EXPECT_EQ(std::get<InferenceSetup>(decode.setup).batch, 32);
  EXPECT_EQ(std::get<InferenceSetup>(decode.setup).expert_tensor, std::nullopt);
}

// Names of AICB's options, as its scripts and its Python have them, and ours.
TEST(GenWorkloadOptionsTest, TakesAicbsSpellings) {
  const std::string ours = Text(Training(
      "--tp 2 --pp 1 --cp 2 --sp --micro-batch 2 --ep 4 --etp 1", kMoe));
  for (const char* dash : {"-", "--"}) {
    for (const char* gap : {" ", "="}) {
      const auto spelled = [&](std::string_view name, std::string_view value) {
        return fmt::format("{}{}{}{} ", dash, name, gap, value);
      };
      EXPECT_EQ(
          Text(std::get<TrainingSetup>(
              Read(spelled("model", "Mixtral_8x7B") +
                   spelled("world_size", "8") + spelled("global_batch", "8") +
                   spelled("seq_length", "128") + spelled("gpu_type", "h100") +
                   spelled("tensor_model_parallel_size", "2") +
                   spelled("pipeline_model_parallel", "1") +
                   spelled("context-parallel-size", "2") +
                   spelled("micro_batch", "2") +
                   spelled("expert_model_parallel_size", "4") +
                   spelled("expert-tensor-parallel-size", "1") +
                   fmt::format("{}enable_sequence_parallel", dash))
                  .setup)),
          ours);
    }
  }
  for (const char* flag :
       {"-sp", "--sp-enable", "--sp_enable", "--enable-sequence-parallel"}) {
    EXPECT_TRUE(Training(flag).sequence_parallel) << flag;
  }
  for (const char* flag : {"--use_flash_attn", "--flash_attn"}) {
    EXPECT_EQ(Text(Training(flag)), Text(Training(""))) << flag;
  }
  EXPECT_EQ(
      ModelOf("-m mixtral-8x7b --experts 16 --topk 4").experts,
      ModelOf("-m mixtral-8x7b --num_experts 16 --moe_router_topk 4").experts);
}

TEST(GenWorkloadOptionsTest, NamesTheNearestFramework) {
  EXPECT_THAT(TryAdd(kTraining, "--framework fspd"),
              StatusIs(absl::StatusCode::kNotFound,
                       "unknown framework \"fspd\"; did you mean \"fsdp\"? "
                       "(known: deepseek, deepspeed, fsdp, hai-llm, internevo, "
                       "megatron, megatron-bridge, megatron-core, mosaicml, "
                       "torchtitan, torchtitan-compiled)"));
}

TEST(GenWorkloadOptionsTest, StagesOfFsdpStayWhole) {
  const TrainingSetup one = Training("--framework fsdp --pp 1 --vpp 1");
  EXPECT_EQ(one.zero, Zero::kParameters);
  EXPECT_FALSE(one.overlap_gradients);
  const TrainingSetup two = Training("--framework torchtitan --pp 2");
  EXPECT_EQ(two.zero, Zero::kOptimizer);
  EXPECT_TRUE(two.overlap_gradients);
  EXPECT_TRUE(two.overlap_parameters);
  EXPECT_EQ(two.bucket_size, 1);
  // DeepSpeed's do not.
  EXPECT_EQ(Training("--framework deepspeed --pp 2").zero, Zero::kParameters);
}

TEST(GenWorkloadOptionsTest, NamesTheNearestName) {
  EXPECT_THAT(TryRead("-m llama3-8c"),
              StatusIs(absl::StatusCode::kNotFound,
                       StartsWith("unknown model \"llama3-8c\"; did you mean "
                                  "\"llama3-8b\"? (known: deepseek-v2, ")));
  EXPECT_THAT(
      TryRead("-m llama3-8b --world-size 8 --global-batch 8 --seq-length 8 "
              "--gpu h100-sxn"),
      StatusIs(absl::StatusCode::kNotFound,
               StartsWith("unknown GPU \"h100-sxn\"; did you mean "
                          "\"h100-sxm\"? (known: a100-pcie-40gb, ")));
  EXPECT_THAT(TryAdd(kTraining, "--pp 2 --schedule zb-x"),
              Says("unknown pipeline schedule \"zb-x\"; did you mean "
                   "\"zb-v\"? (known: " +
                   ScheduleList() + ")"));
  for (const auto& [arguments, message] :
       {std::pair{"--format yaml",
                  "unknown --format \"yaml\" (known: simai, program, vidur, "
                  "aicb-log)"},
        std::pair{"--phase predill",
                  "unknown --phase \"predill\"; did you mean \"prefill\"? "
                  "(known: training, prefill, decode)"},
        std::pair{"--cp 2 --cp-method rings",
                  "unknown --cp-method \"rings\"; did you mean \"ring\"? "
                  "(known: ring, all-gather, all-to-all)"},
        std::pair{"--recompute ful",
                  "unknown --recompute \"ful\"; did you mean \"full\"? (known: "
                  "none, selective, full)"},
        std::pair{"--dtype int8",
                  "unknown --dtype \"int8\" (known: bfloat16, bf16, float16, "
                  "fp16, fp8, fp8_block, mxfp8, nvfp4)"},
        std::pair{"--grad-dtype fp16",
                  "unknown --grad-dtype \"fp16\" (known: fp32, bf16)"}}) {
    EXPECT_THAT(TryAdd(kTraining, arguments), Says(message));
  }
}

TEST(GenWorkloadOptionsTest, NamesTheNearestOption) {
  for (const auto& [typed, nearest] :
       {std::pair{"--seq-lenght", "--seq-length"},
        std::pair{"--expert_model_paralel_size",
                  "--expert-model-parallel-size"},
        std::pair{"-worldsize", "--world-size"},
        std::pair{"--micro-bach", "--micro-batch"}}) {
    EXPECT_THAT(
        ParseWords(GenWorkloadOptionSpecs(), {typed, "3"}),
        Says(fmt::format("unknown option \"{}\"; did you mean {} N? (--help "
                         "lists all)",
                         typed, nearest)));
  }
}

TEST(GenWorkloadOptionsTest, WarnsOfWhatHasNoEffect) {
  EXPECT_THAT(Read(std::string(kTraining)).warnings, IsEmpty());
  EXPECT_THAT(
      ValueOrDie(TryAdd(kTraining,
                        "--epoch_num 3 --workload_only "
                        "--computation_enable --grouped_gemm"))
          .warnings,
      ElementsAre("--epoch-num has no effect", "--workload-only has no effect",
                  "--moe-grouped-gemm has no effect",
                  "--computation-enable has no effect: it is of --format "
                  "aicb-log"));
  for (const char* gpu : {"", "--gpu_type None"}) {
    const GenWorkloadOptions options =
        Read(fmt::format("-m 7 --world-size 8 --global-batch 8 --seq-length "
                         "128 {}",
                         gpu));
    EXPECT_EQ(options.gpu.name, "h100-sxm");
    EXPECT_THAT(options.warnings,
                ElementsAre("no --gpu: the computations are those of "
                            "h100-sxm"));
  }
}

TEST(GenWorkloadOptionsTest, NamesTheFileAsAicbDoes) {
  EXPECT_EQ(Training("").micro_batch, 1);
  EXPECT_EQ(
      ValueOrDie(TryAdd(kTraining, "--tp 2 --pp 4 --micro-batch 3")).output,
      "h100-sxm-llama3-8b-world_size8-tp2-pp4-ep1-gbs8-mbs3-seq128.txt");
  EXPECT_EQ(
      ValueOrDie(TryAdd(kMoe, "--ep 4 --format program --model-name x")).output,
      "h100-sxm-x-world_size8-tp1-pp1-ep4-gbs8-mbs1-seq128.yaml");
  EXPECT_EQ(ValueOrDie(TryAdd(kPrefill, "--batch 4")).output,
            "h100-sxm-llama3-8b-world_size8-tp1-pp1-ep1-bs4-seq128-prefill."
            "txt");
  EXPECT_EQ(Read("-m llama3-8b --phase decode --world-size 8 --seq-length 64 "
                 "--gpu A100 --format vidur")
                .output,
            "a100-sxm-80gb-llama3-8b-world_size8-tp1-pp1-ep1-bs1-seq64-decode."
            "csv");
  EXPECT_EQ(ValueOrDie(TryAdd(kTraining, "-o a/b")).output, "a/b");
}

TEST(GenWorkloadOptionsTest, OptionsOfTimesSetTheirFields) {
  const GenWorkloadOptions options = ValueOrDie(
      TryAdd(kTraining,
             "--operator-table a.csv,b.csv --table-gpu A100 --load 0.5 "
             "--comp_filepath c.txt --aiob --pp-rank 3 --explain"));
  EXPECT_THAT(options.operator_tables, ElementsAre("a.csv", "b.csv"));
  EXPECT_EQ(options.table_gpu, "a100-sxm-80gb");
  EXPECT_EQ(options.load, 0.5);
  EXPECT_EQ(options.aiob_file, "c.txt");
  EXPECT_EQ(options.stage, 3);
  EXPECT_TRUE(options.explain);
  const GenWorkloadOptions plain = Read(std::string(kTraining));
  EXPECT_EQ(plain.load, plain.gpu.calibration.training_load);
  const Calibration half =
      ValueOrDie(TryAdd(kTraining, "--attention-speed 0.5")).gpu.calibration;
  const Calibration& whole = plain.gpu.calibration;
  EXPECT_EQ(half.attention_forward, whole.attention_forward / 2);
  EXPECT_EQ(half.attention_backward, whole.attention_backward / 2);
  EXPECT_THAT(TryAdd(kTraining, "--attention-speed 0"),
              Says("--attention-speed is 0: expected 0.01 to 10"));
  EXPECT_EQ(plain.table_gpu, "");
}

TEST(GenWorkloadOptionsTest, RefusesOptionsThatContradictOneAnother) {
  // A layout that is not legal has a status of its own.
  EXPECT_THAT(TryAdd(kTraining, "--tp 2 --dp 2"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "TP 2 x CP 1 x PP 1 x DP 2 is not the world size 8"));
  for (const auto& [arguments, message] :
       {std::pair{"--cp-method ring", "--cp-method has no effect: CP is 1"},
        std::pair{"--schedule zb-v", "--schedule has no effect: PP is 1"},
        std::pair{"--stage-layers 32 --first-stage-layers 2",
                  "--first-stage-layers has no effect: --stage-layers says "
                  "them all"},
        std::pair{"--stage-layers 32 --account-for-loss",
                  "--account-for-loss has no effect: --stage-layers says them "
                  "all"},
        std::pair{"--last-stage-layers 2 --account-for-embedding",
                  "--account-for-embedding has no effect: --last-stage-layers "
                  "is given"},
        std::pair{"--bucket-size 3",
                  "--bucket-size has no effect: there is no "
                  "--overlap-grad-reduce or --overlap-param-gather"},
        std::pair{"--framework fsdp --zero 1",
                  "--zero is 1: fsdp has stage 3 only"},
        std::pair{"--zero 2 --overlap-grad-reduce",
                  "--overlap-grad-reduce has no effect: ZeRO 2 and 3 always "
                  "overlap"},
        std::pair{"--zero 0 --overlap-param-gather",
                  "--overlap-param-gather has no effect: it is of ZeRO 1"},
        std::pair{"--use-flash-attn --no-flash-attn",
                  "--use-flash-attn contradicts --no-flash-attn"},
        std::pair{"--table-gpu A100",
                  "--table-gpu has no effect: there is no --operator-table"},
        std::pair{"--format program --pp-rank 0",
                  "--pp-rank has no effect: only SimAI's text and AICB's log "
                  "are of one stage"},
        std::pair{"--fp8-dispatch",
                  "--fp8-dispatch has no effect: llama3-8b has no experts"},
        std::pair{"--moe-skew 1",
                  "--moe-skew has no effect: llama3-8b has no experts"},
        std::pair{"--zero 0 --use-distributed-optimizer",
                  "--use-distributed-optimizer contradicts ZeRO 0: it is 1"},
        std::pair{"--recompute full --recompute-activations",
                  "--recompute-activations contradicts --recompute full: it is "
                  "selective"},
        std::pair{"--recompute full --recompute-modules mlp",
                  "--recompute-modules contradicts --recompute full: it is "
                  "selective"},
        std::pair{"--recompute selective --recompute-num-layers 2",
                  "--recompute-num-layers contradicts --recompute selective: "
                  "it is full"},
        std::pair{"--recompute full --recompute-method block",
                  "--recompute-method has no effect: there is no "
                  "--recompute-num-layers"},
        std::pair{"--order tp-pp",
                  "--order \"tp-pp\": expected each of tp, cp, ep, dp and pp "
                  "once, such as tp-cp-ep-dp-pp"},
        std::pair{"--order tp-cp-ep-pp-dp --use-tp-pp-dp-mapping",
                  "--use-tp-pp-dp-mapping has no effect: --order says it"},
        std::pair{"--overlap tp,parameters,tp",
                  "--overlap: tp stands there twice"},
        std::pair{"--overlap tp --tp-overlap",
                  "--tp-overlap has no effect: --overlap says them all"},
        std::pair{"--overlap none,tp",
                  "--overlap: unknown overlap \"none\" (known: gradients, "
                  "parameters, tp, shared_experts)"},
        std::pair{"--recompute-modules mlq",
                  "--recompute-modules: unknown module to recompute \"mlq\"; "
                  "did you mean \"mlp\"? (known: core_attn, layernorm, "
                  "mla_up_proj, mlp, moe, moe_act, shared_experts, op)"},
        std::pair{"--etp 2",
                  "--etp has no effect: llama3-8b has no experts"}}) {
    EXPECT_THAT(TryAdd(kTraining, arguments), Says(message)) << arguments;
  }
  EXPECT_TRUE(TryAdd(kTraining, "--tp 2 --cp 2 --dp 2").ok());
  EXPECT_THAT(TryAdd(kMoe, "--moe-capacity 1 --moe-skew 1"),
              Says("--moe-skew has no effect beside --moe-capacity: every "
                   "expert has the same load"));
  EXPECT_THAT(TryAdd(kMoe, "--moe-capacity 0"),
              Says("--moe-capacity is 0: no token is routed"));
  EXPECT_THAT(TryAdd(kPrefill, "--batch 1 --micro-batch 1"),
              Says("--micro-batch has no effect beside --batch"));
}

TEST(GenWorkloadOptionsTest, RefusesTheOtherPhasesOptions) {
  for (const char* option : {"--cp 2",
                             "--cp-method ring",
                             "--order tp-cp-ep-pp-dp",
                             "--use-tp-pp-dp-mapping",
                             "--vpp 2",
                             "--schedule gpipe",
                             "--stage-layers 32",
                             "--first-stage-layers 2",
                             "--last-stage-layers 2",
                             "--account-for-embedding",
                             "--account-for-loss",
                             "--bucket-size 3",
                             "--tp-overlap",
                             "--shared-expert-overlap",
                             "--sp",
                             "--global-batch 8",
                             "--framework fsdp",
                             "--zero 1",
                             "--use-distributed-optimizer",
                             "--zero-group 2",
                             "--optimizer-workspace 8",
                             "--fused-loss",
                             "--mtp-num-layers 1",
                             "--recompute full",
                             "--recompute-activations",
                             "--recompute-modules mlp",
                             "--recompute-method block",
                             "--recompute-num-layers 2",
                             "--moment-dtype bf16",
                             "--fp8-activation-inputs",
                             "--grad-dtype bf16",
                             "--overlap none",
                             "--overlap-grad-reduce",
                             "--overlap-param-gather",
                             "--no-flash-attn",
                             "--make-vocab-size-divisible-by 3"}) {
    const std::string text = option;
    EXPECT_THAT(TryAdd(kPrefill, text),
                Says(fmt::format("{} has no effect: it is of training",
                                 text.substr(0, text.find(' ')))));
  }
  EXPECT_THAT(TryAdd(kTraining, "--batch 3"),
              Says("--batch has no effect: it is of inference"));
  EXPECT_THAT(TryAdd(kTraining, "--cached 3"),
              Says("--cached has no effect: it is of inference"));
  EXPECT_THAT(TryAdd(kTraining, "--engine vllm"),
              Says("--engine has no effect: it is of inference"));
  EXPECT_THAT(
      TryRead("-m llama3-8b --phase decode --world-size 8 --seq-length 64 "
              "--cached 3"),
      Says("--cached has no effect: a decode step's context is --seq-length"));
}

TEST(GenWorkloadOptionsTest, NamesWhatIsMissing) {
  EXPECT_THAT(TryRead("-m 7"), Says("--gpus is missing"));
  EXPECT_THAT(TryRead("-m 7 --world-size 8"),
              Says("--global-batch is missing"));
  EXPECT_THAT(TryRead("-m 7 --world-size 8 --global-batch 8"),
              Says("--seq-length is missing"));
  EXPECT_THAT(TryRead("-m 7 --phase decode"), Says("--gpus is missing"));
  EXPECT_THAT(TryRead("-m 7 --phase decode --world-size 8"),
              Says("--seq-length is missing"));
}

TEST(GenWorkloadOptionsTest, RefusesNumbersThatAreNone) {
  for (const char* name : {"tp", "cp", "pp", "vpp", "dp", "ep", "etp"}) {
    for (const char* value : {"0", "-1", "1.5", "two", "16777217", "1e3"}) {
      EXPECT_THAT(TryAdd(kMoe, fmt::format("--{} {}", name, value)),
                  Says(fmt::format("--{} is \"{}\": expected a whole number "
                                   "from 1 to 16777216",
                                   name, value)));
    }
  }
  for (const char* value : {",", "1,,2", "1,x", "32,-1"}) {
    EXPECT_THAT(TryAdd(kTraining, fmt::format("--stage-layers {}", value)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("expected a whole number from 0 to")));
  }
  EXPECT_THAT(TryAdd(kTraining, "--zero 4"),
              Says("--zero is \"4\": expected a whole number from 0 to 3"));
  EXPECT_THAT(TryAdd(kTraining, "--load 2"),
              Says("--load is \"2\": expected a number from 0 to 1"));
  EXPECT_THAT(TryAdd(kTraining, "--load 0"),
              Says("--load is 0: expected 0.01 to 1"));
  EXPECT_THAT(TryAdd(kTraining, "--pp-rank -2"),
              Says("--pp-rank is \"-2\": expected a whole number from 0 to "
                   "16777216"));
  EXPECT_THAT(TryAdd(kMoe, "--ep 2 --moe-skew 1.5"),
              Says("--moe-skew is 1.5: the busiest of EP 2 ranks has at most 2 "
                   "times the mean, which is a skew of 1"));
  EXPECT_THAT(TryAdd(kMoe, "--moe-skew -1"),
              Says("--moe-skew is \"-1\": expected a number from 0 to 1000"));
}

}  // namespace
}  // namespace astra
