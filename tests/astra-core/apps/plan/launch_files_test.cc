#include "astra-core/apps/plan/launch_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/astra-core/apps/plan/plan_test_job.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> NamesOf(const std::vector<NamedFile>& files) {
  std::vector<std::string> names;
  for (const NamedFile& file : files) names.push_back(file.name);
  return names;
}

std::string TextOf(const std::vector<NamedFile>& files, std::string_view name) {
  for (const NamedFile& file : files) {
    if (file.name == name) return file.contents;
  }
  return "";
}

std::vector<NamedFile> FilesOf(const std::string& framework,
                               const Layout& layout,
                               const std::string& model = "llama3-8b") {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m " + model +
      " --gpu H100 --gpus 32 --global-batch 64 --seq-length 8192 --framework " +
      framework);
  return LaunchFiles(options, layout);
}

// 32 GPUs: TP 2 x CP 2 x PP 4 x DP 2, in 16 micro-batches of 2 sequences.
Layout Sized() {
  Layout layout = {.tensor = 2,
                   .context = 2,
                   .expert_tensor = 1,
                   .pipeline = 4,
                   .micro_batch = 2};
  layout.sequence_parallel = true;
  return layout;
}

TEST(LaunchFilesTest, MegatronTakesALayout) {
  Layout layout = Sized();
  layout.context_method = ContextMethod::kAllGather;
  layout.recompute = JustFits();
  layout.recompute.layers = 3;
  EXPECT_EQ(TextOf(FilesOf("megatron-core", layout), "megatron.txt"),
            "--num-layers 32\n--hidden-size 4096\n--seq-length 8192\n"
            "--tensor-model-parallel-size 2\n--pipeline-model-parallel-size 4\n"
            "--context-parallel-size 2\n--cp-comm-type all_gather\n"
            "--micro-batch-size 2\n--global-batch-size 64\n"
            "--sequence-parallel\n--use-distributed-optimizer\n"
            "--overlap-grad-reduce\n--overlap-param-gather\n"
            "--tp-comm-overlap\n--recompute-granularity full\n"
            "--recompute-method block\n--recompute-num-layers 3\n");
}

TEST(LaunchFilesTest, MegatronTakesStagesThatDiffer) {
  Layout layout = Sized();
  layout.pipeline = 16;
  layout.context = 1;
  layout.tensor = 1;
  layout.sequence_parallel = false;
  layout.expert = 2;
  layout.virtual_stages = 1;
  const std::string text = TextOf(
      FilesOf("megatron-bridge", layout, "deepseek-v2-lite"), "megatron.txt");
  // 27 blocks on 16 stages: the first 11 stages behind the first have two.
  EXPECT_THAT(text, HasSubstr("--pipeline-model-parallel-layout Et|tt|tt|tt|tt|"
                              "tt|tt|tt|tt|tt|tt|tt|t|t|t|tL\n"));
  EXPECT_THAT(text, HasSubstr("--moe-token-dispatcher-type alltoall\n"));
}

TEST(LaunchFilesTest, TorchTitanTakesALayout) {
  Layout layout = Sized();
  layout.zero = Zero::kParameters;
  layout.recompute = {.kind = Recompute::kSelective};
  const std::vector<NamedFile> files = FilesOf("torchtitan", layout);
  EXPECT_THAT(NamesOf(files), ElementsAre("torchtitan.toml"));
  const std::string text = TextOf(files, "torchtitan.toml");
  EXPECT_THAT(text, HasSubstr("[training]\nlocal_batch_size = 32\n"
                              "global_batch_size = 64\nseq_len = 8192\n"));
  EXPECT_THAT(text, HasSubstr("data_parallel_shard_degree = 2\n"
                              "tensor_parallel_degree = 2\n"));
  EXPECT_THAT(text, HasSubstr("pipeline_parallel_degree = 4\n"
                              "pipeline_parallel_schedule = \"1F1B\"\n"
                              "pipeline_parallel_microbatch_size = 2\n"));
  EXPECT_THAT(text, HasSubstr("module_fqns_per_model_part = [\n"
                              "  [\"tok_embeddings\", \"layers.0\", "));
  EXPECT_THAT(text, HasSubstr("\"layers.31\", \"norm\", \"output\"],\n]\n"));
  EXPECT_THAT(text, HasSubstr("context_parallel_degree = 2\n"
                              "context_parallel_rotate_method = "
                              "\"alltoall\"\n"));
  EXPECT_THAT(text, HasSubstr("[activation_checkpoint]\nmode = \"selective\"\n"
                              "selective_ac_option = \"op\"\n"));
}

TEST(LaunchFilesTest, TorchTitanRepeatsEveryFewLayers) {
  Layout layout = Sized();
  layout.zero = Zero::kParameters;
  layout.recompute = JustFits();
  layout.recompute.layers = 4;  // Of 8 on each stage.
  std::vector<NamedFile> files = FilesOf("torchtitan", layout);
  EXPECT_THAT(TextOf(files, "torchtitan.toml"),
              HasSubstr("selective_ac_option = \"2\"\n"));
  EXPECT_EQ(TextOf(files, "launch-notes.txt"), "");
  layout.recompute.layers = 3;
  files = FilesOf("torchtitan", layout);
  EXPECT_EQ(TextOf(files, "launch-notes.txt"),
            "TorchTitan recomputes 1 of every 2 layers: 4 of the 8 of a rank, "
            "not 3\n");
}

TEST(LaunchFilesTest, DeepSpeedTakesALayout) {
  Layout layout = {.tensor = 2, .context = 4, .micro_batch = 2};
  layout.zero = Zero::kParameters;
  layout.context_method = ContextMethod::kAllToAll;
  layout.recompute = {.kind = Recompute::kFull};
  const std::vector<NamedFile> files = FilesOf("deepspeed", layout);
  EXPECT_THAT(NamesOf(files), ElementsAre("ds_config.json", "deepspeed.txt"));
  // 64 sequences of DP 4, 2 at a time.
  EXPECT_THAT(TextOf(files, "ds_config.json"),
              HasSubstr("\"gradient_accumulation_steps\": 8"));
  EXPECT_EQ(TextOf(files, "deepspeed.txt"),
            "--deepspeed\n--deepspeed_config ds_config.json\n--zero-stage 3\n"
            "--num-layers 32\n--hidden-size 4096\n--seq-length 8192\n"
            "--tensor-model-parallel-size 2\n--pipeline-model-parallel-size 1\n"
            "--no-pipeline-parallel\n--micro-batch-size 2\n"
            "--global-batch-size 64\n--ds-sequence-parallel-size 4\n"
            "--checkpoint-activations\n--checkpoint-num-layers 1\n"
            "--deepspeed-activation-checkpointing\n");
}

TEST(LaunchFilesTest, NotesSayWhatALauncherCannotDo) {
  Layout layout = Sized();
  layout.zero = Zero::kOptimizer;
  layout.schedule = *FindSchedule("zb-h1");
  EXPECT_EQ(TextOf(FilesOf("megatron", layout), "launch-notes.txt"),
            "Megatron-LM has no schedule zb-h1: its default runs instead\n");
  EXPECT_EQ(TextOf(FilesOf("deepspeed", layout), "launch-notes.txt"),
            "Megatron-DeepSpeed has no sequence parallelism of TP beside that "
            "of DeepSpeed, which stands for CP\n"
            "DeepSpeed exchanges positions for heads (--cp-method all-to-all), "
            "not by ring\n"
            "DeepSpeed has no schedule zb-h1: its default runs instead\n");
  EXPECT_THAT(NamesOf(FilesOf("internevo", layout)), ElementsAre());
  layout = Sized();
  layout.order = *ParseRankOrder("tp-cp-ep-pp-dp");
  EXPECT_THAT(TextOf(FilesOf("megatron", layout), "megatron.txt"),
              HasSubstr("--use-tp-pp-dp-mapping\n"));
  EXPECT_EQ(TextOf(FilesOf("megatron", layout), "launch-notes.txt"),
            "Megatron-LM takes --use-tp-pp-dp-mapping only where experts have "
            "as many replicas as DP; TP x CP must be ETP x EP\n");
  layout.zero = Zero::kParameters;
  EXPECT_EQ(TextOf(FilesOf("torchtitan", layout), "launch-notes.txt"),
            "TorchTitan does not number ranks by tp-cp-ep-pp-dp\n");
}

}  // namespace
}  // namespace astra
