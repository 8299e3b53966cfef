#include "astra-core/hosts/fabric/fabric_endpoint.h"

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(FabricProviderTest, SomeProvidersNeedADevice) {
  EXPECT_TRUE(IsRdmaProvider("verbs;ofi_rxm"));
  EXPECT_TRUE(IsRdmaProvider("efa"));
  EXPECT_FALSE(IsRdmaProvider("tcp;ofi_rxm"));
  EXPECT_FALSE(IsRdmaProvider("verbsx"));
  EXPECT_FALSE(IsRdmaProvider(""));
}

// Endpoints of the loopback device, which every host has.
class FabricEndpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CheckFabricIsBuilt().ok()) GTEST_SKIP() << "built without libfabric";
  }

  static std::unique_ptr<FabricEndpoint> Open() {
    return ValueOrDie(OpenFabricEndpoint({.provider = "tcp", .device = "lo"}));
  }
  static std::string ErrorOf(const DeviceWish& wish) {
    return std::string(OpenFabricEndpoint(wish).status().message());
  }
};

TEST_F(FabricEndpointTest, WritesPartsIntoTheMemoryOfAnother) {
  const auto sender = Open();
  const auto receiver = Open();
  EXPECT_THAT(sender->name().provider, StartsWith("tcp"));
  EXPECT_EQ(sender->name().device, "lo");
  std::string from = "..rightleft..";
  std::string to(16, '.');
  ASSERT_TRUE(sender->Register({from.data(), from.size()}).ok());
  const RemoteMemory memory =
      ValueOrDie(receiver->Register({to.data(), to.size()}));
  FabricWrite write;
  write.peer = ValueOrDie(sender->AddPeer(receiver->address()));
  write.first = std::string_view(from).substr(7, 4);
  write.second = std::string_view(from).substr(2, 5);
  write.target = {.address = memory.address + 3, .key = memory.key};
  write.notice = 0xfedcba98;
  WriteTicket ticket;
  bool has_begun = false;
  std::vector<FabricCompletion> of_sender;
  std::vector<FabricCompletion> of_receiver;
  // The limit of the test ends it if they never come.
  while (of_sender.empty() || of_receiver.empty()) {
    if (!has_begun) has_begun = ValueOrDie(sender->Write(write, &ticket));
    ASSERT_TRUE(sender->Poll(&of_sender).ok());
    ASSERT_TRUE(receiver->Poll(&of_receiver).ok());
  }
  EXPECT_EQ(of_sender[0].kind, FabricCompletion::Kind::kWritten);
  EXPECT_EQ(of_sender[0].ticket, &ticket);
  EXPECT_EQ(of_receiver[0].kind, FabricCompletion::Kind::kNotice);
  EXPECT_EQ(of_receiver[0].notice, 0xfedcba98);
  EXPECT_EQ(to, "...leftright....");
}

TEST_F(FabricEndpointTest, AnAddressOfAnotherLengthIsNone) {
  EXPECT_THAT(std::string(Open()->AddPeer("x").status().message()),
              HasSubstr("an address of 1 bytes is none of the provider tcp"));
}

TEST_F(FabricEndpointTest, ErrorsSayWhatIsThere) {
  EXPECT_THAT(ErrorOf({.provider = "tpc"}),
              StartsWith("--provider is \"tpc\", for which libfabric finds no "
                         "device on this host"));
  EXPECT_THAT(ErrorOf({.provider = "tcp", .device = "mlx5_99"}),
              StartsWith("--device is \"mlx5_99\", which libfabric's provider "
                         "tcp"));
}

// libinfinipath, which libfabric may load, takes them over.
TEST_F(FabricEndpointTest, SignalsDoWhatTheyDidBefore) {
  Open();
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    ASSERT_EQ(sigaction(number, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << number;
  }
}

}  // namespace
}  // namespace astra::testing
