#include "astra-core/apps/collective/simai_collective_effects.h"

#include <string>

#include "collectives/dispatchers/dispatcher.h"
#include "collectives/inference_engines/engine_file.h"
#include "tests/astra-core/apps/collective/collective_program.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using enum CollectiveKind;
using ::astra::testing::ValueOrDie;

NcclOptions Options(const std::string& list) {
  NcclOptions options;
  const absl::Status status = ApplyNcclOptionList(list, &options);
  EXPECT_TRUE(status.ok()) << status;
  return options;
}

std::string ErrorOf(CollectiveKind kind, const NcclOptions& nccl) {
  return std::string(CheckEffects(kind, nccl).message());
}

std::string ErrorOf(CollectiveKind kind, const std::string& list) {
  return ErrorOf(kind, Options(list));
}

TEST(CheckEffectsTest, NothingIsAskedByDefault) {
  for (const CollectiveKind kind : kCollectiveKinds) {
    EXPECT_EQ(ErrorOf(kind, NcclOptions()), "") << Name(kind);
    EXPECT_EQ(ErrorOf(kind, "NCCL_VERSION=2.20,NCCL_MAX_CTAS=8"), "");
  }
}

TEST(CheckEffectsTest, ChoicesConcernTheCollectivesThatHaveThem) {
  const std::string all =
      "it is for all_reduce, all_gather, reduce_scatter, broadcast and reduce";
  EXPECT_EQ(ErrorOf(kAllToAll, "NCCL_PROTO=LL"),
            "NCCL_PROTO has no effect on alltoall: " + all);
  EXPECT_EQ(ErrorOf(kSendRecv, "NCCL_ALGO=^Tree"),
            "NCCL_ALGO has no effect on sendrecv: " + all);
  EXPECT_EQ(ErrorOf(kBroadcast, "NCCL_ALGO=Ring,NCCL_PROTO=LL"), "");
  const std::string some = "NCCL_ALGO=allgather:ring;reducescatter:ring";
  EXPECT_EQ(ErrorOf(kAllReduce, some),
            "NCCL_ALGO has no effect on all_reduce: it is for all_gather and "
            "reduce_scatter");
  EXPECT_EQ(ErrorOf(kAllGather, some), "");
}

TEST(CheckEffectsTest, VariablesConcernTheCollectivesThatHeedThem) {
  EXPECT_EQ(ErrorOf(kAllGather, "NCCL_COLLNET_ENABLE=1"),
            "NCCL_COLLNET_ENABLE=1 has no effect on all_gather: CollNet is for "
            "all_reduce");
  EXPECT_EQ(
      ErrorOf(kGather, "NCCL_MIN_CTAS=8"),
      "NCCL_MIN_NCHANNELS has no effect on gather: NCCL searches channels "
      "for all_reduce, all_gather, reduce_scatter, broadcast and reduce");
  EXPECT_EQ(ErrorOf(kBroadcast, "NCCL_NVLS_ENABLE=0"),
            "NCCL_NVLS_ENABLE=0 has no effect on broadcast: NVLS is for "
            "all_reduce, all_gather and reduce_scatter");
  EXPECT_EQ(ErrorOf(kAllReduce, "NCCL_PAT_ENABLE=0"),
            "NCCL_PAT_ENABLE=0 has no effect on all_reduce: PAT is for "
            "all_gather and reduce_scatter");
  EXPECT_EQ(ErrorOf(kAllReduce, "NCCL_PXN_DISABLE=1"),
            "NCCL_PXN_DISABLE=1 has no effect on all_reduce: PXN is for "
            "alltoall, dispatch and combine");
  EXPECT_EQ(ErrorOf(kAllToAll, "NCCL_PXN_DISABLE=1"), "");
  EXPECT_EQ(ErrorOf(kAllReduce, "NCCL_COLLNET_ENABLE=1,NCCL_NVLS_ENABLE=0"),
            "");
}

TEST(CheckEffectsTest, OptionsConcernTheCollectivesThatHaveSuchKernels) {
  NcclOptions symmetric;
  symmetric.symmetric = true;
  EXPECT_EQ(ErrorOf(kAllToAll, symmetric),
            "--symmetric has no effect on alltoall: kernels for symmetric "
            "buffers are for all_reduce, all_gather and reduce_scatter");
  EXPECT_EQ(ErrorOf(kAllGather, symmetric), "");
  NcclOptions engine;
  engine.engine = ValueOrDie(LoadInferenceEngine("vllm"));
  EXPECT_EQ(ErrorOf(kAllToAll, engine),
            "--engine has no effect on alltoall: the kernels of an engine are "
            "for all_reduce");
  EXPECT_EQ(ErrorOf(kAllReduce, engine), "");
  NcclOptions dispatcher;
  dispatcher.dispatch = ExpertDispatch();
  EXPECT_EQ(ErrorOf(kAllToAll, dispatcher),
            "--dispatcher has no effect on alltoall: a dispatcher is for "
            "dispatch and combine");
  EXPECT_EQ(ErrorOf(kCombine, dispatcher), "");
}

using SimaiCollectiveEffectsTest = CollectiveProgramTest;

TEST_F(SimaiCollectiveEffectsTest, ALoneCollectiveTakesWhatConcernsIt) {
  const std::string run = "--system dgx-h100 -b 1M -e 1M ";
  ExpectRefused(run + "--op alltoall --nccl NCCL_ALGO=Ring",
                "NCCL_ALGO has no effect on alltoall: it is for all_reduce, "
                "all_gather, reduce_scatter, broadcast and reduce");
  const std::string engine =
      "--engine has no effect on a group over 2 servers: "
      "its kernels are for one";
  ExpectRefused(run + "--engine vllm --servers 2", engine);
  Print(run + "--engine vllm --servers 2 --ranks 8-15");
  Print(run + "--engine none --servers 2");
  // NVSwitches do not multiply; that is no wish of the user.
  Print(run + "--op reduce --redop prod");
}

TEST_F(SimaiCollectiveEffectsTest, SoDoesTheCollectiveOfALog) {
  testing::WriteText(folder_.PathOf("a.log"),
                     "1048576 262144 float sum -1 40 26.2 26.2 0 41 25.6 25.6 "
                     "0\n");
  const std::string run = "--compare a.log --system dgx-h100 --engine vllm ";
  ExpectRefused(run + "--op broadcast --gpus 8",
                "--engine has no effect on broadcast: the kernels of an engine "
                "are for all_reduce");
  ExpectRefused(run + "--op all_reduce --gpus 16",
                "--engine has no effect on a group over 2 servers: its kernels "
                "are for one");
}

TEST(CheckGivenTest, AFileIsForAllCollectivesOfAHost) {
  const testing::TemporaryFolder folder;
  NcclSettings settings;
  settings.file = folder.PathOf("nccl.conf");
  testing::WriteText(*settings.file, "NCCL_PROTO=LL\n");
  EXPECT_TRUE(CheckGiven(kAllToAll, settings).ok());
  settings.list = "NCCL_PROTO=LL";
  EXPECT_FALSE(CheckGiven(kAllToAll, settings).ok());
}

}  // namespace
}  // namespace astra
