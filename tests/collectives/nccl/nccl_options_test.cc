#include "collectives/nccl/nccl_options.h"

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

NcclOptions OptionsOf(std::string_view list) {
  NcclOptions options;
  const absl::Status status = ApplyNcclOptionList(list, &options);
  EXPECT_TRUE(status.ok()) << status;
  return options;
}

std::string ErrorOf(std::string_view list) {
  NcclOptions options;
  const absl::Status status = ApplyNcclOptionList(list, &options);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

// The algorithms that a collective may use, as NCCL names them.
std::vector<std::string_view> AlgorithmsOf(const NcclOptions& options,
                                           CollectiveKind kind) {
  std::vector<std::string_view> names;
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    if (options.choices_of(kind).allows(algorithm)) {
      names.push_back(Name(algorithm));
    }
  }
  return names;
}

std::vector<std::string_view> ProtocolsOf(const NcclOptions& options,
                                          CollectiveKind kind) {
  std::vector<std::string_view> names;
  for (const NcclProtocol protocol : kNcclProtocols) {
    if (options.choices_of(kind).allows(protocol)) {
      names.push_back(Name(protocol));
    }
  }
  return names;
}

using Names = std::vector<std::string_view>;
const Names& AllAlgorithms() {
  static const Names names = {"Tree",         "Ring", "CollNetDirect",
                              "CollNetChain", "NVLS", "NVLSTree",
                              "PAT"};
  return names;
}

TEST(NcclOptionsTest, AllowEverythingUnlessTold) {
  const NcclOptions options;
  for (const CollectiveKind kind : kCollectiveKinds) {
    EXPECT_EQ(AlgorithmsOf(options, kind), AllAlgorithms());
    EXPECT_EQ(ProtocolsOf(options, kind), Names({"LL", "LL128", "Simple"}));
  }
}

TEST(NcclOptionsTest, SetTheirFields) {
  EXPECT_EQ(OptionsOf("NCCL_VERSION=2.18").version, (NcclVersion{2, 18}));
  EXPECT_EQ(OptionsOf("NCCL_MIN_NCHANNELS=4").min_channels, 4);
  EXPECT_EQ(OptionsOf("NCCL_MIN_CTAS=1").min_channels, 1);
  EXPECT_EQ(OptionsOf("NCCL_MAX_NCHANNELS=64").max_channels, 64);
  EXPECT_EQ(OptionsOf("NCCL_MAX_CTAS=16").max_channels, 16);
  EXPECT_EQ(OptionsOf("NCCL_CROSS_NIC=0").cross_nic, 0);
  EXPECT_EQ(OptionsOf("NCCL_IB_QPS_PER_CONNECTION=128").queue_pairs, 128);
  EXPECT_FALSE(OptionsOf("NCCL_NVLS_ENABLE=0").nvls);
  EXPECT_TRUE(OptionsOf("NCCL_NVLS_ENABLE=2").nvls);
  EXPECT_FALSE(OptionsOf("NCCL_COLLNET_ENABLE=0").collnet);
  EXPECT_TRUE(OptionsOf("NCCL_COLLNET_ENABLE=1").collnet);
  EXPECT_FALSE(OptionsOf("NCCL_PAT_ENABLE=0").pat);
  EXPECT_FALSE(OptionsOf("NCCL_PXN_DISABLE=1").pxn);
  EXPECT_TRUE(OptionsOf("NCCL_PXN_DISABLE=0").pxn);
}

TEST(NcclOptionsTest, AKeyIsGivenOnce) {
  EXPECT_EQ(ErrorOf("NCCL_CROSS_NIC=0,NCCL_PROTO=LL,NCCL_CROSS_NIC=1"),
            "NCCL_CROSS_NIC is given twice");
  EXPECT_EQ(ErrorOf("NCCL_ALGO=Ring,NCCL_ALGO=Ring"),
            "NCCL_ALGO is given twice");
}

// So does --nccl go before --nccl-file.
TEST(NcclOptionsTest, ALaterListGoesBefore) {
  NcclOptions options = OptionsOf("NCCL_ALGO=Ring,NCCL_CROSS_NIC=0");
  EXPECT_TRUE(ApplyNcclOptionList("NCCL_ALGO=Tree", &options).ok());
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kAllReduce), Names({"Tree"}));
  EXPECT_EQ(options.cross_nic, 0);
}

TEST(NcclOptionsTest, CommasSeparateValuesAndVariables) {
  const NcclOptions options =
      OptionsOf(" NCCL_ALGO=ring,NVLS,NCCL_PROTO=LL,SIMPLE ,NCCL_MAX_CTAS=8");
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kAllReduce),
            Names({"Ring", "NVLS"}));
  EXPECT_EQ(ProtocolsOf(options, CollectiveKind::kAllReduce),
            Names({"LL", "Simple"}));
  EXPECT_EQ(options.max_channels, 8);
}

TEST(NcclOptionsTest, ACaretExcludes) {
  const NcclOptions options = OptionsOf("NCCL_ALGO=^tree,PAT,NCCL_PROTO=^LL");
  EXPECT_EQ(
      AlgorithmsOf(options, CollectiveKind::kReduceScatter),
      Names({"Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree"}));
  EXPECT_EQ(ProtocolsOf(options, CollectiveKind::kReduceScatter),
            Names({"LL128", "Simple"}));
}

TEST(NcclOptionsTest, ChoicesMayBeOfSomeFunctions) {
  const NcclOptions options = OptionsOf(
      "NCCL_ALGO=AllReduce:tree,collnetdirect;allgather,broadcast:^ring");
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kAllReduce),
            Names({"Tree", "CollNetDirect"}));
  const Names no_ring = {"Tree", "CollNetDirect", "CollNetChain",
                         "NVLS", "NVLSTree",      "PAT"};
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kAllGather), no_ring);
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kBroadcast), no_ring);
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kReduce), AllAlgorithms());
  EXPECT_EQ(ProtocolsOf(options, CollectiveKind::kAllReduce),
            Names({"LL", "LL128", "Simple"}));
}

// Sends and receives are not chosen among.
TEST(NcclOptionsTest, AChoiceOfAllIsOfThoseWithAlgorithms) {
  const NcclOptions options = OptionsOf("NCCL_ALGO=ring;allreduce:tree");
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kAllReduce), Names({"Tree"}));
  for (const CollectiveKind kind :
       {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
    EXPECT_EQ(AlgorithmsOf(options, kind), Names({"Ring"}));
  }
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kAllToAll), AllAlgorithms());
}

TEST(NcclOptionsTest, AVersionHasTwoParts) {
  EXPECT_EQ(ValueOrDie(ParseNcclVersion("2.27")), (NcclVersion{2, 27}));
  EXPECT_EQ(ValueOrDie(ParseNcclVersion("2.27.7")), (NcclVersion{2, 27}));
  EXPECT_EQ(ValueOrDie(ParseNcclVersion("2.99.0+cuda13")),
            (NcclVersion{2, 99}));
  for (const std::string text :
       {"", "2", "2.17", "2.100", "3.1", "2.x", "v2.20", "2.-20", ".20"}) {
    EXPECT_THAT(ParseNcclVersion(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "NCCL version \"" + text +
                             "\": expected one such as 2.27, from 2.18 to "
                             "2.99"));
  }
}

TEST(NcclOptionsTest, RefuseWhatNcclWouldNotTake) {
  EXPECT_EQ(ErrorOf(""), "\"\": expected KEY=VALUE, such as NCCL_ALGO=Ring");
  EXPECT_EQ(ErrorOf("NCCL_ALGO"),
            "\"NCCL_ALGO\": expected KEY=VALUE, such as NCCL_ALGO=Ring");
  EXPECT_EQ(ErrorOf("NCCL_ALGO=Ring,NCCL_"),
            "\"NCCL_\": expected KEY=VALUE, such as NCCL_ALGO=Ring");
  EXPECT_EQ(ErrorOf("NCCL_ALGOS=Ring"),
            "unknown NCCL variable \"NCCL_ALGOS\"; did you mean \"NCCL_ALGO\"? "
            "(known: NCCL_ALGO, NCCL_COLLNET_ENABLE, NCCL_CROSS_NIC, "
            "NCCL_IB_QPS_PER_CONNECTION, NCCL_MAX_CTAS, NCCL_MAX_NCHANNELS, "
            "NCCL_MIN_CTAS, NCCL_MIN_NCHANNELS, NCCL_NVLS_ENABLE, "
            "NCCL_PAT_ENABLE, NCCL_PROTO, NCCL_PXN_DISABLE, NCCL_VERSION)");
  EXPECT_EQ(ErrorOf("NCCL_ALGO=rink"),
            "unknown NCCL_ALGO \"rink\"; did you mean \"Ring\"? (known: Tree, "
            "Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT)");
  EXPECT_EQ(ErrorOf("NCCL_ALGO=ring,,tree"),
            "unknown NCCL_ALGO \"\" (known: Tree, Ring, "
            "CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT)");
  EXPECT_EQ(ErrorOf("NCCL_PROTO=LL64"),
            "unknown NCCL_PROTO \"LL64\"; did you mean \"LL\"? (known: LL, "
            "LL128, Simple)");
  EXPECT_EQ(ErrorOf("NCCL_ALGO=alltoall:ring"),
            "unknown NCCL function \"alltoall\" "
            "(known: broadcast, reduce, allgather, reducescatter, allreduce)");
  EXPECT_EQ(
      ErrorOf("NCCL_MAX_NCHANNELS=0"),
      "NCCL_MAX_NCHANNELS is \"0\": expected a whole number from 1 to 64");
  EXPECT_EQ(ErrorOf("NCCL_MIN_CTAS=65"),
            "NCCL_MIN_CTAS is \"65\": expected a whole number from 1 to 64");
  EXPECT_EQ(ErrorOf("NCCL_CROSS_NIC=3"),
            "NCCL_CROSS_NIC is \"3\": expected a whole number from 0 to 2");
  EXPECT_EQ(
      ErrorOf("NCCL_IB_QPS_PER_CONNECTION=129"),
      "NCCL_IB_QPS_PER_CONNECTION is \"129\": expected a whole number from "
      "1 to 128");
  EXPECT_EQ(ErrorOf("NCCL_NVLS_ENABLE=yes"),
            "NCCL_NVLS_ENABLE is \"yes\": expected a whole number from 0 to 2");
  EXPECT_EQ(ErrorOf("NCCL_VERSION=2.5"),
            "NCCL version \"2.5\": expected one such as 2.27, from 2.18 to "
            "2.99");
}

TEST(NcclOptionsTest, WhatAVersionLacksCannotBeAskedFor) {
  const auto error = [](const NcclOptions& options) {
    return std::string(CheckVersion(options).message());
  };
  const std::string lacks_pat =
      "NCCL 2.22 has no algorithm PAT: expected 2.23 or later";
  EXPECT_EQ(error(OptionsOf("NCCL_ALGO=PAT,NCCL_VERSION=2.22")), lacks_pat);
  EXPECT_EQ(error(OptionsOf("NCCL_VERSION=2.22,NCCL_ALGO=Ring,PAT")),
            lacks_pat);
  EXPECT_EQ(error(OptionsOf("NCCL_VERSION=2.22,NCCL_ALGO=allgather:pat")),
            lacks_pat);
  EXPECT_EQ(error(OptionsOf("NCCL_VERSION=2.23,NCCL_ALGO=PAT")), "");
  EXPECT_EQ(error(OptionsOf("NCCL_VERSION=2.22,NCCL_ALGO=^Tree")), "");
  EXPECT_EQ(error(OptionsOf("NCCL_VERSION=2.18,NCCL_ALGO=Tree,NVLSTree")), "");
  EXPECT_EQ(error(OptionsOf("NCCL_VERSION=2.18")), "");
  NcclOptions symmetric;
  symmetric.symmetric = true;
  symmetric.version = {2, 26};
  EXPECT_EQ(error(symmetric),
            "NCCL 2.26 has no kernels for symmetric buffers: expected 2.27 or "
            "later");
  symmetric.version = {2, 27};
  EXPECT_EQ(error(symmetric), "");
}

TEST(NcclOptionsTest, RefuseVariablesWithoutEffect) {
  EXPECT_TRUE(IsNeutralNcclVariable("NCCL_IB_HCA"));
  EXPECT_FALSE(IsNeutralNcclVariable("NCCL_ALGO"));
  EXPECT_FALSE(IsNeutralNcclVariable("NCCL_IB"));
  EXPECT_EQ(ErrorOf("NCCL_DEBUG=INFO"),
            "\"NCCL_DEBUG\" has no effect here: leave it out");
}

TEST(NcclOptionsTest, AFileHasOneInEachLine) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.PathOf("nccl.conf");
  testing::WriteText(path,
                     "# Ours\n\n  NCCL_ALGO=Ring,Tree  # both\r\n"
                     "NCCL_MAX_CTAS=8\r\n\t\r\nNCCL_NVLS_ENABLE=0");
  NcclOptions options;
  const absl::Status status = ApplyNcclOptionFile(path, &options);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kAllReduce),
            Names({"Tree", "Ring"}));
  EXPECT_EQ(options.max_channels, 8);
  EXPECT_FALSE(options.nvls);
}

TEST(NcclOptionsTest, AnErrorOfAFileNamesTheLine) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.PathOf("nccl.conf");
  NcclOptions options;
  testing::WriteText(path, "# Ours\nNCCL_MAX_CTAS=8\n  NCCL_MIN_CTAS=x\n");
  EXPECT_THAT(
      ApplyNcclOptionFile(path, &options),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          path + ":3:3: NCCL_MIN_CTAS is \"x\": expected a whole number from 1 "
                 "to 64"));
  testing::WriteText(path, "NCCL_ALGO=Ring\n\n NCCL_ALGO=Tree\n");
  EXPECT_THAT(ApplyNcclOptionFile(path, &options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path + ":3:2: NCCL_ALGO is given twice"));
  EXPECT_THAT(ApplyNcclOptionFile(folder.PathOf("none"), &options),
              StatusIs(absl::StatusCode::kNotFound,
                       ::testing::StartsWith(folder.PathOf("none") + ": ")));
}

TEST(NcclOptionListTest, BlanksAroundCommasDoNotMatter) {
  EXPECT_EQ(OptionsOf("NCCL_ALGO=Ring,Tree , NCCL_PROTO=Simple"),
            OptionsOf("NCCL_ALGO=Ring,Tree,NCCL_PROTO=Simple"));
}

TEST(WithDefaultsTest, WhatIsAskedGoesBefore) {
  const std::vector<std::string> defaults = {"NCCL_ALGO=Ring,Tree",
                                             "NCCL_PROTO=Simple"};
  const NcclOptions options =
      ValueOrDie(WithDefaults(OptionsOf("NCCL_PROTO=LL"), defaults));
  EXPECT_EQ(AlgorithmsOf(options, CollectiveKind::kAllReduce),
            Names({"Tree", "Ring"}));
  EXPECT_EQ(ProtocolsOf(options, CollectiveKind::kAllReduce), Names({"LL"}));
  EXPECT_EQ(ValueOrDie(WithDefaults(options, {})), options);
}

}  // namespace
}  // namespace astra
