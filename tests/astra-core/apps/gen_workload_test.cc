// gen_workload as a program: what it prints and writes, and how it ends.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::ReadText;
using ::astra::testing::RunProgram;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::WriteText;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two blocks that are easy to count.
constexpr std::string_view kTiny =
    "name: tiny\n"
    "source: a page\n"
    "no_published_count: it is of a test\n"
    "layers: 2\n"
    "hidden: 64\n"
    "vocabulary: 512\n"
    "attention: {kind: full, heads: 4, kv_heads: 2, head_dim: 16}\n"
    "feed_forward: {ffn: 256, gated: true}\n";

constexpr std::string_view kTinySetup =
    "-m tiny.yaml --world-size 4 --tp 2 --sp --global-batch 4 --seq-length 128 "
    "--gpu H100 -o w.txt";

class GenWorkloadTest : public ::testing::Test {
 protected:
  GenWorkloadTest() { WriteText(folder_.PathOf("tiny.yaml"), kTiny); }

  ProgramResult Run(const std::string& arguments) {
    return RunProgram("gen_workload", arguments, folder_.path());
  }
  ProgramResult RunTiny(std::string_view more) {
    return Run(fmt::format("{} {}", kTinySetup, more));
  }

  // Returns the file that the command line writes.
  std::string FileOf(const std::string& arguments) {
    const ProgramResult result = Run(arguments + " -o file");
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return ReadText(folder_.PathOf("file"));
  }

  // Expects exit code 2, one line on stderr, and no file.
  void ExpectRefused(const std::string& arguments, const std::string& message) {
    SCOPED_TRACE(arguments);
    const std::vector<std::string> before = folder_.Names();
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.error, "gen_workload: error: " + message + "\n");
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(folder_.Names(), before);
  }
  // Expects the same of options behind those of a layout that is right.
  void ExpectRefusesLayout(std::string_view layout,
                           const std::string& message) {
    ExpectRefused(fmt::format("--seq-length 128 --gpu H100 {}", layout),
                  message);
  }
  // Expects the error to say that the layout is not legal.
  void ExpectIllegal(std::string_view layout, const std::string& message) {
    ExpectRefusesLayout(layout, "illegal layout: " + message);
  }

  TemporaryFolder folder_;
};

TEST_F(GenWorkloadTest, WritesTheFileAndSaysItsName) {
  const std::string name =
      "h100-sxm-llama3-8b-world_size8-tp2-pp1-ep1-gbs8-mbs1-seq128.txt";
  const ProgramResult result = Run(
      "-m llama3-8b --world-size 8 --tp 2 --global-batch 8 --seq-length 128 "
      "--gpu H100");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, name + "\n");
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(folder_.Names(), ElementsAre(name, "tiny.yaml"));
  EXPECT_THAT(ReadText(folder_.PathOf(name)),
              StartsWith("HYBRID_TRANSFORMER_FWD_IN_BCKWD "
                         "model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 2 "
                         "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 "
                         "pp_comm: 0\n"));
}

TEST_F(GenWorkloadTest, WritesTheSameBytesAgain) {
  for (const char* format : {"simai", "program"}) {
    const std::string arguments = fmt::format(
        "-m deepseek-v3 --world-size 64 --tp 2 --sp --pp 2 --ep 4 "
        "--global-batch 64 --seq-length 256 --gpu H100 --format {}",
        format);
    EXPECT_EQ(FileOf(arguments), FileOf(arguments));
  }
}

// 4 sequences of 128 positions; an H100 has 80 GB.
TEST_F(GenWorkloadTest, AProgramSaysScheduleGpuAndWork) {
  const std::string text = FileOf(
      "-m tiny.yaml --world-size 2 --pp 2 --schedule gpipe "
      "--global-batch 4 --seq-length 128 --gpu H100 --format program");
  EXPECT_THAT(
      text,
      HasSubstr(
          "\nschedule: gpipe\n"
          "gpu: {name: \"h100-sxm\", memory: 85899345920, peak_tflops: 989.4, "
          "communication_slowdown: 0.18}\n"
          "work: {tokens: 512, model_flops: "));
  EXPECT_THAT(FileOf("-m tiny.yaml --phase decode --world-size 4 --tp 2 "
                     "--batch 8 --seq-length 128 --gpu H100 --format program"),
              HasSubstr("\nwork: {tokens: 16, model_flops: 0}\n"));
}

TEST_F(GenWorkloadTest, WarnsOfWhatSimaisTextCannotSay) {
  const ProgramResult result = RunTiny("--pp 2 --schedule zb-h1 --tp-overlap");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error,
            "gen_workload: warning: SimAI's text cannot say that collectives "
            "run beside products: they are waited for; --format program can\n"
            "gen_workload: warning: SimAI's text cannot say that the schedule "
            "is zb-h1; --format program can\n");
}

TEST_F(GenWorkloadTest, AicbsSpellingsWriteTheSameFile) {
  const std::string ours = FileOf(
      "--model gpt-7b --world-size 4096 --tp 2 --pp 1 --global-batch 8192 "
      "--micro-batch 1 --seq-length 4096 --swiglu --sp --gpu h100-sxm");
  for (const char* spelling :
       {"-m 7 --world_size 4096 --tensor_model_parallel_size 2 "
        "--pipeline_model_parallel 1 --global_batch 8192 --micro_batch 1 "
        "--seq_length 4096 --swiglu --use_flash_attn "
        "--enable_sequence_parallel",
        "--m=7 -world-size=4096 -tensor-model-parallel-size=2 "
        "-pipeline-model-parallel=1 -global-batch=8192 -micro-batch=1 "
        "-seq-length=4096 -swiglu -use-flash-attn -enable-sequence-parallel"}) {
    EXPECT_EQ(FileOf(spelling), ours);
  }
  const ProgramResult result =
      Run("-m 7 --world_size 8 --global_batch 8 --seq_length 64 --gpu_type "
          "H100 --epoch_num 1 --workload_only");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error,
            "gen_workload: warning: --epoch-num has no effect\n"
            "gen_workload: warning: --workload-only has no effect\n");
}

TEST_F(GenWorkloadTest, RefusesLayoutsThatCannotBe) {
  for (const auto& [layout, message] :
       {std::pair{"-m gpt-22b --world-size 15 --global-batch 15 --tp 3",
                  "TP 3 does not divide the 64 attention heads"},
        std::pair{"-m llama3-8b --world-size 8 --global-batch 8 --tp 3",
                  "TP 3 x PP 1 does not divide the 8 GPUs: there is no whole "
                  "DP"},
        std::pair{"-m gpt-22b --world-size 64 --global-batch 64 --pp 64",
                  "PP 64 is more than the 48 layers"},
        std::pair{"-m gpt-22b --world-size 8 --global-batch 8 --cp 3",
                  "CP 3 does not divide 8 = 8 GPUs / (TP 1 x PP 1): there is "
                  "no whole DP"},
        std::pair{"-m llama3-8b --world-size 256 --global-batch 8 --cp 256",
                  "CP 256 does not divide the 128 positions of a sequence"},
        std::pair{"-m llama3-8b --world-size 128 --global-batch 8 --cp 128",
                  "twice CP 256 does not divide the 128 positions of a "
                  "sequence (each rank has an early and a late part)"},
        std::pair{"-m gpt-22b --world-size 8 --global-batch 8 --vpp 2",
                  "VPP 2 without pipeline stages: PP is 1"},
        std::pair{"-m gpt-22b --world-size 8 --global-batch 4 --pp 8 --vpp 2",
                  "4 micro-batches are no multiple of PP 8, as virtual stages "
                  "need"},
        std::pair{"-m gpt-22b --world-size 8 --global-batch 8 --pp 2 --vpp 7",
                  "VPP 7 does not divide the 24 layers of a pipeline stage"},
        std::pair{"-m gpt-22b --world-size 8 --global-batch 12 --pp 4 "
                  "--schedule dualpipe",
                  "schedule dualpipe: the number of micro-batches is 6: "
                  "expected 8 or more, two for each stage"},
        std::pair{"-m gpt-22b --world-size 8 --global-batch 8 --pp 8 "
                  "--account-for-embedding",
                  "48 layers and 1 that the embedding and the loss count for "
                  "are no multiple of the 8 parts of the pipeline"},
        std::pair{"-m gpt-22b --world-size 8 --global-batch 9",
                  "the global batch 9 is no multiple of DP 8 x micro-batch 1"},
        std::pair{"-m llama3-8b --world-size 8 --global-batch 8 --pp 2 "
                  "--stage-layers 1,2",
                  "the stages have 1,2 layers: expected PP 2 numbers that add "
                  "up to 32"},
        std::pair{"-m llama3-8b --world-size 8 --global-batch 8 "
                  "--framework deepspeed --pp 2",
                  "ZeRO 3 needs PP 1, not 2: gradients are reduced in every "
                  "micro-batch"},
        std::pair{"-m llama3-8b --world-size 8 --global-batch 8 --ep 2",
                  "EP 2 has no effect: llama3-8b has no experts"}}) {
    ExpectIllegal(layout, message);
  }
}

TEST_F(GenWorkloadTest, RefusesLayoutsOfExpertsThatCannotBe) {
  for (const auto& [layout, message] :
       {std::pair{"--world-size 6 --global-batch 6 --ep 3",
                  "EP 3 does not divide the 8 experts"},
        std::pair{"--world-size 8 --global-batch 8 --ep 3",
                  "EP 3 does not divide DP 8 = 8 GPUs / (TP 1 x PP 1)"},
        std::pair{"--world-size 8 --global-batch 8 --ep 2 --etp 3",
                  "ETP 3 x EP 2 does not divide the 8 GPUs of a stage"},
        std::pair{"--world-size 3 --global-batch 3 --etp 3",
                  "ETP 3 does not divide the 14336 columns of an expert"},
        std::pair{"--world-size 8 --global-batch 8 --tp 2",
                  "experts with TP 2 need sequence parallelism"}}) {
    ExpectIllegal(fmt::format("-m mixtral-8x7b {}", layout), message);
  }
}

TEST_F(GenWorkloadTest, RefusesWhatTheModelOrTheGpuLacks) {
  ExpectRefused("-m gpt-22b --world-size 8 --global-batch 8 --seq-length 4096",
                "sequence length 4096 is beyond the 2048 learned positions "
                "(max_positions)");
  ExpectRefused(
      "-m gpt-22b --phase prefill --world-size 8 --seq-length 2048 --cached 1",
      "2049 positions are beyond the 2048 learned ones (max_positions)");
  ExpectRefusesLayout(
      "-m llama3-8b --world-size 8 --global-batch 8 --num-query-groups 3",
      "attention.kv_heads is 3: expected a divisor of the 32 heads");
  ExpectRefused(
      "-m llama3-8b --world-size 8 --global-batch 8 --seq-length 8 --dtype "
      "fp8 --gpu A100",
      "--dtype fp8: a100-sxm-80gb has no products of that precision");
}

TEST_F(GenWorkloadTest, RefusesWhatTheFormatLacks) {
  ExpectRefusesLayout(
      "-m llama3-8b --world-size 8 --global-batch 8 --cp 2",
      "SimAI's text format has no context parallelism; write a program "
      "(--format program)");
  ExpectRefusesLayout(
      "-m mixtral-8x7b --world-size 8 --global-batch 8 --tp 4 --sp --ep 2 "
      "--etp 2",
      "SimAI's text format has no collectives over ETP other than TP; write a "
      "program (--format program)");
  ExpectRefusesLayout(
      "-m llama3-8b --world-size 1 --global-batch 1048576",
      "1048576 micro-batches of 67 layers each are too many for SimAI's text "
      "format (at most 2097152 layers); write a program (--format program)");
  ExpectRefusesLayout(
      "-m llama3-8b --world-size 1 --global-batch 1 --format vidur",
      "Vidur's format is for inference: give --phase prefill or decode");
  ExpectRefusesLayout(
      "-m llama3-8b --world-size 2 --global-batch 4 --pp 2 --schedule dualpipe",
      "SimAI's text format has no micro-batches that run one chunk of a stage "
      "only; write a program (--format program)");
  ExpectRefusesLayout(
      "-m llama3-8b --world-size 2 --global-batch 4 --pp 2 --schedule gpipe "
      "--format aicb-log",
      "AICB's log has no schedule gpipe; write a program");
  ExpectRefusesLayout(
      "-m llama3-8b --world-size 8 --global-batch 8 --pp 2 --pp-rank 2",
      "--pp-rank is 2: the last of the stages is 1");
}

// 2^64 attended positions must not come out as few.
TEST_F(GenWorkloadTest, RefusesMoreTokensThanItCanCount) {
  EXPECT_EQ(Run("-m llama3-8b --phase decode --world-size 1 --batch 4294967296 "
                "--seq-length 4294967296 --gpu H100 -o w")
                .exit_code,
            2);
  EXPECT_EQ(Run("-m llama3-8b --world-size 1 --micro-batch 4294967296 "
                "--global-batch 4294967296 --seq-length 4294967296 --gpu H100 "
                "--format program -o w")
                .exit_code,
            2);
  EXPECT_THAT(folder_.Names(), ElementsAre("tiny.yaml"));
}

// A block cannot be split.
TEST_F(GenWorkloadTest, RefusesFewerLayersThanVirtualStages) {
  EXPECT_EQ(Run("-m llama3-8b --world-size 2 --global-batch 2 --seq-length 128 "
                "--gpu H100 --pp 2 --vpp 4 --stage-layers 31,1 -o w")
                .exit_code,
            2);
}

TEST_F(GenWorkloadTest, RefusesFilesItCannotRead) {
  WriteText(folder_.PathOf("empty.yaml"), "");
  WriteText(folder_.PathOf("bin.yaml"), std::string_view("\0\1bad", 5));
  WriteText(folder_.PathOf("config.json"), "{}");
  const auto refuses_model = [this](const char* model, const char* message) {
    ExpectRefusesLayout(
        fmt::format("-m {} --world-size 1 --global-batch 1", model), message);
  };
  refuses_model("none.yaml",
                "none.yaml: cannot be read: No such file or directory");
  refuses_model("./", "./: cannot be read: Is a directory");
  refuses_model("empty.yaml",
                "empty.yaml:1:1: the model is nothing, expected a mapping");
  refuses_model("bin.yaml",
                "bin.yaml:1:1: the model is a value, expected a mapping");
  refuses_model("config.json",
                "config.json:1:1: the configuration has no \"model_type\"");
  ExpectRefused(
      "-m 7 --world-size 1 --global-batch 1 --seq-length 1 --gpu g.yaml",
      "g.yaml: cannot be read: No such file or directory");
  const std::string tiny(kTinySetup);
  ExpectRefused(tiny + " --operator-table none.csv",
                "none.csv: cannot be read: No such file or directory");
  ExpectRefused(tiny + " --operator-table empty.yaml",
                "empty.yaml:1:1: no line: expected the names of the columns");
  ExpectRefused(tiny + " --comp-filepath none",
                "none: cannot be read: No such file or directory");
  ExpectRefused(tiny + " --comp-filepath empty.yaml",
                "empty.yaml:1:1: expected \"train_iter:\" and a number");
}

TEST_F(GenWorkloadTest, RefusesPlacesItCannotWriteTo) {
  const std::string setup =
      "-m tiny.yaml --world-size 1 --global-batch 1 --seq-length 1 --gpu H100 "
      "-o ";
  ExpectRefused(setup + "none/w",
                "none/w: cannot be written: No such file or directory");
  ExpectRefused(setup + "tiny.yaml/w",
                "tiny.yaml/w: cannot be written: Not a directory");
  ExpectRefused(setup + ".", ".: cannot be written: Is a directory");
  EXPECT_EQ(ReadText(folder_.PathOf("tiny.yaml")), kTiny);
}

TEST_F(GenWorkloadTest, PrintsListsHelpAndVersion) {
  EXPECT_THAT(Run("--list-models").out,
              AllOf(StartsWith("deepseek-v2\n"), HasSubstr("\ngpt-22b\n")));
  EXPECT_THAT(Run("--list-gpus").out, HasSubstr("\nh100-sxm\n"));
  EXPECT_THAT(Run("--help").out, StartsWith("usage: gen_workload"));
  EXPECT_EQ(Run("--version").out, "gen_workload 0.1.0\n");
  EXPECT_THAT(folder_.Names(), ElementsAre("tiny.yaml"));
}

// Stage 0 of two has, with TP 8, 51904512 parameters of the embedding (51200 x
// 6144 / 8 words, 2048 x 6144 positions), and 24 blocks of 14170368 (QKV),
// 4724736 (output), 18889728 (up) and 18880512 (down). In all, with TP 1: 51200
// x 6144 words, 2048 x 6144 positions, 48 blocks of 12 x 6144^2 + 13 x 6144,
// and 2 x 6144. A token trains 6 x (all but the positions) + 6 x 48 x 6144 x
// 2048 FLOPs.
TEST_F(GenWorkloadTest, ExplainsGpt22b) {
  const ProgramResult result =
      Run("-m gpt-22b --world-size 128 --tp 8 --pp 2 --sp --global-batch 64 "
          "--micro-batch 2 --seq-length 2048 --gpu H100 --explain -o w.txt");
  EXPECT_EQ(result.error, "");
  for (const char* part :
       {"model      gpt-22b: 22074273792 parameters; ",
        "; published 22000000000, +0.338 %\n",
        "layout     TP 8 x CP 1 x DP 8 x PP 2 = 128 GPUs; ",
        "; ETP 8, EP 1, DP_EP 8; VPP 1, 4 micro-batches\n",
        "  0        1411872768 parameters, 0 of experts; ",
        "  1        1399302144 parameters, 0 of experts; ",
        "work       64 sequences of 2048 positions = 131072 tokens; ",
        " GFLOP a token (6 N + attention: 135.994)\n", "GPU        h100-sxm; ",
        "pipeline   a message of 6291456 B between stages\n",
        "  attention_column, 48 times: 14170368 parameters, ",
        "      blocking all-gather over TP, 50331648 B\n",
        "      qkv_linear        bf16 4096 x 2304 x 6144: 115.964 GFLOP, ",
        ", roofline (bound by compute, +-10 %)\n", "      wait for TP\n",
        "  grad_reduce, after the micro-batches: ",
        "      blocking reduce-scatter over DP, 5647491072 B\n",
        "      blocking all-reduce over TP, 3538944 B\n",
        "      blocking all-gather over DP, 2823745536 B\n"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  EXPECT_THAT(result.out, EndsWith("\nw.txt\n"));
}

// Products of 128 tokens: the table has n = 64 (as it is), and 192 and 384.
TEST_F(GenWorkloadTest, SaysWhichTimesWereMeasured) {
  WriteText(folder_.PathOf("t.csv"),
            "gpu,operator,precision,m,n,k,time_us\n"
            "H100,qkv_linear,bf16,128,64,64,9\n"
            "H100,a,bf16,128,192,64,11\n"
            "H100,b,bf16,128,384,64,13\n");
  const std::string here =
      RunTiny("--operator-table t.csv --load 1 --explain").out;
  EXPECT_THAT(here,
              HasSubstr("qkv_linear        bf16 128 x 64 x 64: 0.00104858 "
                        "GFLOP, 0.04096 MB, 9.000 us, measured (bound by "
                        "launch, +-5 %)\n"));
  // 11 + (256 - 192) / (384 - 192) x 2.
  EXPECT_THAT(here,
              HasSubstr("ffn_up            bf16 128 x 256 x 64: 0.0041943 "
                        "GFLOP, 0.114688 MB, 11.667 us, interpolated (bound by "
                        "launch, +-10 %)\n"));
  EXPECT_THAT(here, HasSubstr(", extrapolated (bound by launch, +-15 %)\n"));
  EXPECT_THAT(here, Not(HasSubstr("carried over")));

  const std::string elsewhere =
      Run("-m tiny.yaml --world-size 4 --tp 2 --sp --global-batch 4 "
          "--seq-length 128 --gpu A100 -o w.txt --operator-table t.csv --load "
          "1 --explain")
          .out;
  EXPECT_THAT(elsewhere,
              HasSubstr(", carried over (bound by launch, +-40 %)\n"));
  EXPECT_THAT(elsewhere, Not(HasSubstr("measured (")));
}

TEST_F(GenWorkloadTest, InferenceTakesMeasuredKernels) {
  const std::string setup =
      "-m llama3-70b --phase decode --gpus 8 --tp 8 --batch 64 --seq-length "
      "4096 -o w.txt --explain --gpu ";
  const std::string h100 = Run(setup + "H100").out;
  EXPECT_THAT(h100, HasSubstr(" us, measured (bound by memory, +-0 %)\n"));
  EXPECT_THAT(h100, HasSubstr(" us, neighbours (bound by memory, +-5 %)\n"));
  EXPECT_THAT(h100, HasSubstr(" us, roofline (bound by launch, +-10 %)\n"));
  EXPECT_THAT(Run(setup + "H200").out,
              HasSubstr(" us, carried over from h100-sxm (bound by memory, "
                        "+-12 %)\n"));
}

TEST_F(GenWorkloadTest, TablesOfKernelsGoFirst) {
  WriteText(folder_.PathOf("k.csv"),
            "op_name,gemm_dtype,m,n,k,latency\n"
            "gemm,bfloat16,64,7168,8192,0.5\n");
  const std::string setup =
      "-m llama3-70b --phase decode --gpus 8 --tp 8 --batch 64 --seq-length "
      "4096 -o w.txt --gpu H100 --operator-table k.csv";
  EXPECT_THAT(Run(setup + " --explain").out,
              HasSubstr(" 500.000 us, measured (bound by memory, +-0 %)\n"));
  ExpectRefused(setup + " --table-gpu A100",
                "k.csv: a table of kernels must be of the GPU h100-sxm, not of "
                "a100-sxm-80gb");
  WriteText(folder_.PathOf("step.csv"),
            "op_name,attn_dtype,kv_cache_dtype,batch_size,isl,num_heads,"
            "num_key_value_heads,head_dim,step,latency\n"
            "generation_attention,bfloat16,bfloat16,4,1,8,2,128,1000,0.1\n");
  ExpectRefused(std::string(kTinySetup) + " --operator-table step.csv",
                "step.csv: kernels of generation_attention are for --phase "
                "prefill or decode; training takes those of gemm, "
                "context_attention, context_mla");
}

// The sums of the residual stream take 63 ns for their bytes, and 5 us for a
// kernel of their own. vLLM's kernels are the default, as in simai_serving.
TEST_F(GenWorkloadTest, AnEngineFusesKernels) {
  const std::string step =
      "-m llama3-70b --phase decode --gpus 8 --tp 8 --batch 4 --seq-length "
      "1025 --gpu H100 --format program";
  const std::string alone = FileOf(step + " --engine none");
  EXPECT_THAT(alone, HasSubstr("- {compute: 5.063069us}"));
  EXPECT_THAT(alone, Not(HasSubstr("- {compute: 0.063069us}")));
  const std::string fused = FileOf(step);
  EXPECT_THAT(fused, HasSubstr("- {compute: 0.063069us}"));
  EXPECT_THAT(fused, Not(HasSubstr("- {compute: 5.063069us}")));
  EXPECT_EQ(FileOf(step + " --engine vllm"), fused);
  EXPECT_THAT(Run(step + " -o step.yaml --explain").out,
              HasSubstr("0.063 us, roofline (bound by memory"));
}

TEST_F(GenWorkloadTest, WarnsOfAnEngineThatChangesNothing) {
  WriteText(folder_.PathOf("drops.yaml"),
            fmt::format("{}dropout: true\n", kTiny));
  EXPECT_EQ(Run("-m drops.yaml --phase decode --gpus 1 --seq-length 128 --gpu "
                "H100 -o w.txt --engine vllm")
                .error,
            "gen_workload: warning: --engine has no effect: it fuses no "
            "operator of the step\n");
}

TEST_F(GenWorkloadTest, WarnsOfASpeedOfAttentionThatChangesNothing) {
  const std::string warning =
      "gen_workload: warning: --attention-speed has no effect: attention is "
      "bound by memory, or by the start of its kernel\n";
  EXPECT_EQ(Run("-m tiny.yaml --phase decode --world-size 1 --seq-length 128 "
                "--gpu H100 -o w.txt --attention-speed 0.5")
                .error,
            warning);
  EXPECT_EQ(Run("-m llama3-8b --phase prefill --world-size 1 --seq-length 8192 "
                "--gpu H100 -o w.txt --attention-speed 0.5")
                .error,
            "");
}

// AICB's option.
TEST_F(GenWorkloadTest, DrawsTheCommunicationOfARank) {
  const ProgramResult result = RunTiny("--enable_visual");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, EndsWith("w.txt\nw.html\n"));
  const std::string page = ReadText(folder_.PathOf("w.html"));
  EXPECT_THAT(page, HasSubstr("<title>tiny</title>"));
  EXPECT_THAT(page, HasSubstr("\"kind\":\"pie\""));
  for (const char* what : {"DP all-gather", "DP reduce-scatter",
                           "TP all-gather", "TP reduce-scatter"}) {
    EXPECT_THAT(page,
                HasSubstr(fmt::format("<th scope=\"row\">{}</th>", what)));
  }
}

TEST_F(GenWorkloadTest, RefusesTablesOfUnknownGpus) {
  WriteText(folder_.PathOf("t.csv"),
            "gpu,operator,precision,bytes,time_us\n"
            "h100-sxn,norm,bf16,128,9\n");
  const ProgramResult result = RunTiny("--operator-table t.csv");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, AllOf(StartsWith("gen_workload: error: t.csv"),
                                  HasSubstr("unknown GPU \"h100-sxn\"; did you "
                                            "mean \"h100-sxm\"?")));
  EXPECT_THAT(folder_.Names(), ElementsAre("t.csv", "tiny.yaml"));
}

std::string AiobSection(std::string_view name, std::string_view average) {
  return fmt::format(
      "{}:\n    time_gpu_max: 2000\n    time_gpu_min: 1\n    time_gpu_avg: "
      "{}\n",
      name, average);
}

// A pass of attention_column takes layernorm and atten_qkv; each of its two
// gradients as long.
TEST_F(GenWorkloadTest, AnAiobFileSetsTheTimesOfModules) {
  WriteText(folder_.PathOf("aiob"),
            "train_iter:10\n" + AiobSection("Emb", "2.5") +
                AiobSection("layernorm", "1.25") +
                AiobSection("atten_qkv", "20") + AiobSection("strange", "7") +
                AiobSection("param_time", "1000"));
  const ProgramResult result = RunTiny("--comp-filepath aiob --aiob-enable");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(
      result.error,
      StartsWith("gen_workload: warning: the measured section \"strange\" has "
                 "no effect: no module of this workload is it\n"
                 "gen_workload: warning: the measured times have no section "
                 "for attention_row: its time is a formula's\n"));
  const std::string text = ReadText(folder_.PathOf("w.txt"));
  EXPECT_THAT(text,
              HasSubstr("\ngrad_param_compute\t-1\t0\tNONE\t0\t1000000\t"));
  EXPECT_THAT(text, HasSubstr("\nembedding_layer\t-1\t2500\tREDUCESCATTER\t"
                              "16384\t2500\tALLGATHER\t16384\t0\tNONE\t0"));
  EXPECT_THAT(text, HasSubstr("\nattention_column\t-1\t21250\tALLGATHER\t16384"
                              "\t21250\tREDUCESCATTER\t16384\t21250\t"));
  EXPECT_THAT(RunTiny("--comp-filepath aiob --explain").out,
              HasSubstr(" us, measured as a share of the module\n"));
}

// Each stage has an optimizer of its own.
TEST_F(GenWorkloadTest, AnAiobFileSetsTheTimesOfAllStages) {
  WriteText(folder_.PathOf("aiob"),
            "train_iter:10\n" + AiobSection("param_time", "1000"));
  EXPECT_THAT(RunTiny("--pp 2 --comp-filepath aiob").error,
              Not(HasSubstr("no section for optimizer")));
  EXPECT_THAT(ReadText(folder_.PathOf("w.txt")),
              HasSubstr("\ngrad_param_compute\t-1\t0\tNONE\t0\t1000000\t"));
}

TEST_F(GenWorkloadTest, WarnsOfWhatSimaiItselfCannotRead) {
  const ProgramResult result =
      Run("-m gpt-1t --world-size 1 --global-batch 1 --seq-length 2048 --gpu "
          "H100 -o w.txt");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(
      result.error,
      "gen_workload: warning: stage 0 allocates 17129.1 GiB, more than the "
      "GPU's 80.0 GiB\n"
      "gen_workload: warning: SimAI itself loses the computation of "
      "grad_param_compute, which takes over 2^31 ns\n");
}

// The first command line is one of AICB's generate_collective_test. In the
// second, its data-parallel group has 2 GPUs, and its sizes are the defaults.
TEST_F(GenWorkloadTest, CollectiveTestsOfAicbAreOfAnotherProgram) {
  constexpr std::string_view kMessage =
      "{} asks for times of collectives, not for a workload: run "
      "simai_collective --system dgx-h100 --gpus {} (other systems: "
      "simai_collective --list-systems)";
  ExpectRefused(
      "--frame=collective_test --world_size=8 --begin_size=1048576 "
      "--end_size=8388608 --test_comm=all_to_all --iter_num=2",
      fmt::format(kMessage, "--framework collective_test",
                  "8 --op all_to_all -b 1048576 -e 8388608"));
  ExpectRefused("-m llama3-8b --world-size 8 --iter_num 2 --tp 2 --pp 2",
                fmt::format(kMessage, "--iter-num",
                            "2 --op all_reduce -b 1048576 -e 1048576"));
}

}  // namespace
}  // namespace astra
