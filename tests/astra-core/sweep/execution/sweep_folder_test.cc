#include "astra-core/sweep/execution/sweep_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::WriteText;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(SweepFolderTest, IsAbsoluteForTasksElsewhere) {
  EXPECT_EQ(SweepFolder("a/../b/").path(),
            std::filesystem::current_path().string() + "/b");
  EXPECT_EQ(SweepFolder("/x").RecordFile("k"), "/x/points/k/record.json");
}

TEST(SweepFolderTest, RefusesAFileInItsPlace) {
  const TemporaryFolder temporary;
  WriteText(temporary.PathOf("file"), "");
  EXPECT_THAT(SweepFolder(temporary.PathOf("file")).Create(),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("file/inputs: ")));
}

// Locks are of processes, so the other must be one.
TEST(SweepLockTest, KeepsOthersOutUntilItsProcessEnds) {
  const TemporaryFolder temporary;
  const SweepFolder folder(temporary.path());
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(done[1]);
    std::string holder;
    const auto lock = SweepLock::Take(folder, &holder);
    char byte = lock.ok() && lock->has_value() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) == 1) (void)!read(done[0], &byte, 1);
    _exit(0);  // Without giving the lock back.
  }
  char taken = 0;
  ASSERT_EQ(read(ready[0], &taken, 1), 1);
  EXPECT_EQ(taken, 'y');
  std::string holder;
  EXPECT_FALSE(SweepLock::Take(folder, &holder).value().has_value());
  EXPECT_THAT(holder, StartsWith(std::to_string(child) + " on "));
  close(done[1]);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(SweepLock::Take(folder, &holder).value().has_value());
}

}  // namespace
}  // namespace astra
