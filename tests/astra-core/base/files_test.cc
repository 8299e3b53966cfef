#include "astra-core/base/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "astra-core/base/host_name.h"
#include "fmt/core.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ReadText;
using ::astra::testing::StatusIs;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WriteText;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(TemporaryFileTest, IsSeenOnceItIsWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("file");
  TemporaryFile file(path, "a");
  TemporaryFile other(path, "b");
  EXPECT_EQ(file.Open(), absl::OkStatus());
  EXPECT_EQ(other.Open(), absl::OkStatus());
  file.Append("one ");
  other.Append("none");
  file.Append("two");
  EXPECT_EQ(file.Close(), absl::OkStatus());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(file.Rename(), absl::OkStatus());
  EXPECT_EQ(ReadText(path), "one two");
}

TEST(TemporaryFileTest, TellsWhatItCouldNotWrite) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("none/file");
  TemporaryFile file(path);
  EXPECT_FALSE(file.Open().ok());
  file.Append("text");
  EXPECT_THAT(file.Close(), StatusIs(absl::StatusCode::kPermissionDenied,
                                     path + ": cannot be written: No such file "
                                            "or directory"));
}

TEST(ReadFileTest, GivesEveryByte) {
  const TemporaryFolder folder;
  std::string contents("\0\r\n\xff", 4);
  contents.append(200'000, 'x');  // More than one buffer.
  contents += "end";
  WriteText(folder.PathOf("file"), contents);

  EXPECT_EQ(ValueOrDie(ReadFile(folder.PathOf("file"))), contents);
}

TEST(ReadFileTest, SaysWhichFileCannotBeReadAndWhy) {
  const TemporaryFolder folder;
  const std::string missing = folder.PathOf("missing");
  EXPECT_THAT(
      ReadFile(missing),
      StatusIs(absl::StatusCode::kNotFound,
               missing + ": cannot be read: No such file or directory"));
  EXPECT_THAT(ReadFile(folder.path()),
              StatusIs(absl::StatusCode::kNotFound,
                       folder.path() + ": cannot be read: Is a directory"));
}

TEST(ReadFileTest, LeavesOutAByteOrderMark) {
  const TemporaryFolder folder;
  WriteText(folder.PathOf("file"), "\xef\xbb\xbftext\xef\xbb\xbf");
  EXPECT_EQ(ValueOrDie(ReadFile(folder.PathOf("file"))), "text\xef\xbb\xbf");
}

TEST(ReadFileTest, RefusesADevice) {
  for (const std::string path : {"/dev/zero", "/dev/null"}) {
    EXPECT_THAT(ReadFile(path),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         path + ": is a device: expected a file or a pipe"));
  }
}

TEST(ReadFileTest, ReadsAPipeThatAnotherWritesTo) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string text(1 << 20, 'x');  // More than a pipe holds.
  std::thread writer([&] { WriteText(path, text); });
  EXPECT_EQ(ValueOrDie(ReadFile(path)), text);
  writer.join();
}

// As a shell's <(COMMAND) is to a program that reads it twice.
TEST(ReadFileTest, APipeThroughWhichNothingComesIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { WriteText(path, ""); });
  EXPECT_THAT(ReadFile(path),
              StatusIs(absl::StatusCode::kNotFound,
                       path + ": cannot be read: nothing comes through this "
                              "pipe; it can be read only once, so give a file "
                              "if the program reads it again"));
  writer.join();
}

TEST(FolderOfTest, PathsCountFromTheFolderOfAFile) {
  EXPECT_EQ(FolderOf("in/jobs.yaml"), "in");
  EXPECT_EQ(FolderOf("/jobs.yaml"), "/");
  EXPECT_EQ(FolderOf("jobs.yaml"), "");
  EXPECT_EQ(FolderOf("/dev/shm/jobs.yaml"), "/dev/shm");
}

TEST(FolderOfTest, PathsOfAPipeCountFromTheWorkingFolder) {
  EXPECT_EQ(FolderOf("/dev/stdin"), "");
  EXPECT_EQ(FolderOf("/dev/fd/63"), "");
  EXPECT_EQ(FolderOf("/proc/self/fd/0"), "");
}

TEST(IsSameFileTest, FollowsLinksAndNeedsNoFile) {
  const TemporaryFolder folder;
  const std::string file = folder.PathOf("file");
  const std::string link = folder.PathOf("link");
  WriteText(file, "a");
  std::filesystem::create_symlink(file, link);
  EXPECT_TRUE(IsSameFile(file, link));
  EXPECT_FALSE(IsSameFile(file, folder.PathOf("other")));
  EXPECT_TRUE(IsSameFile(folder.PathOf("new"), folder.PathOf("./new")));
}

// The link of an open pipe in /dev/fd leads to a name that is no path.
TEST(IsSameFileTest, APipeIsTheSameAsNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string path = fmt::format("/dev/fd/{}", ends[0]);
  EXPECT_FALSE(IsSameFile(path, "out.txt"));
  EXPECT_FALSE(IsSameFile("out.txt", path));
  close(ends[0]);
  close(ends[1]);
}

// A path below a file cannot be looked at.
TEST(IsFolderTest, WhatCannotBeLookedAtIsNotThere) {
  const TemporaryFolder folder;
  const std::string file = folder.PathOf("file");
  WriteText(file, "a");
  EXPECT_TRUE(IsFolder(folder.path()));
  EXPECT_FALSE(IsFolder(file));
  EXPECT_FALSE(IsFolder(file + "/below"));
  EXPECT_TRUE(Exists(file));
  EXPECT_FALSE(Exists(file + "/below"));
  EXPECT_FALSE(Exists(std::string(5000, 'x')));  // Longer than a name may be.
}

TEST(ReadFileTest, GivesUpOnAPipeThatNobodyWritesTo) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(ReadFile(path),
              StatusIs(absl::StatusCode::kNotFound,
                       path + ": cannot be read: no program writes to this "
                              "pipe"));
}

TEST(WriteFileTest, ReplacesTheContentsAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("file");
  ASSERT_TRUE(WriteFile(path, "a longer text").ok());
  ASSERT_TRUE(WriteFile(path, std::string("a\0b", 3)).ok());

  EXPECT_EQ(ReadText(path), std::string("a\0b", 3));
  EXPECT_THAT(folder.Names(), ElementsAre("file"));
}

// Root may write anywhere, but not below a file.
TEST(WriteFileTest, SaysWhichFileCannotBeWrittenAndWhy) {
  const TemporaryFolder folder;
  WriteText(folder.PathOf("file"), "");
  const std::string path = folder.PathOf("file/below");

  EXPECT_THAT(WriteFile(path, "text"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       path + ": cannot be written: Not a directory"));
}

TEST(WriteFileTest, LeavesNothingBehindWhereItFailsAtTheEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("taken");
  std::filesystem::create_directory(path);  // Cannot be replaced by a file.

  EXPECT_THAT(WriteFile(path, "text"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       path + ": cannot be written: Is a directory"));
  EXPECT_THAT(folder.Names(), ElementsAre("taken"));
}

TEST(WriteFileTest, SaysWhenTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("file");
  WriteText(path, "before");
  // Where it writes first: a name that we can foresee.
  std::filesystem::create_symlink(
      "/dev/full",
      folder.PathOf(fmt::format("file.{}.{}.tmp", HostName(), getpid())));

  EXPECT_THAT(WriteFile(path, "after"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       path + ": cannot be written: No space left on device"));
  EXPECT_EQ(ReadText(path), "before");
  EXPECT_THAT(folder.Names(), ElementsAre("file"));
}

TEST(RemoveLeftTemporariesTest, RemovesThoseOfWritersThatAreNoMore) {
  const TemporaryFolder folder;
  const std::string host = HostName();
  const std::string alive = fmt::format("a.{}.{}.tmp", host, getpid());
  const std::string elsewhere = "a.another-host.999999999.tmp";
  for (const std::string& name :
       {alive, elsewhere, fmt::format("a.b.{}.999999999.tmp", host),
        std::string("old.tmp"), std::string("young.tmp"),
        fmt::format("c.{}.999999999", host)}) {
    WriteText(folder.PathOf(name), "x");
  }
  std::filesystem::last_write_time(
      folder.PathOf("old.tmp"),
      std::filesystem::file_time_type::clock::now() -
          std::chrono::seconds(kLeftTemporarySeconds + 60));
  RemoveLeftTemporaries(folder.path());
  EXPECT_THAT(folder.Names(),
              UnorderedElementsAre(alive, elsewhere, "young.tmp",
                                   fmt::format("c.{}.999999999", host)));
  RemoveLeftTemporaries(folder.PathOf("none"));
}

TEST(OutputFolderTest, MakesFoldersThatAreMissing) {
  const TemporaryFolder folder;
  {
    const OutputFolder output =
        ValueOrDie(OutputFolder::Create(folder.PathOf("a/b")));
    EXPECT_TRUE(std::filesystem::is_empty(folder.PathOf("a/b")));
    ASSERT_TRUE(output.Write({{"x.csv", "1,2\n"}, {"y.csv", ""}}).ok());
  }
  EXPECT_EQ(ReadText(folder.PathOf("a/b/x.csv")), "1,2\n");
  EXPECT_EQ(ReadText(folder.PathOf("a/b/y.csv")), "");
}

TEST(OutputFolderTest, RemovesWhatItMadeWhereNothingIsWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.PathOf("old"));
  ValueOrDie(OutputFolder::Create(folder.PathOf("a/b/")));
  ValueOrDie(OutputFolder::Create(folder.PathOf("old/new")));
  ValueOrDie(OutputFolder::Create(folder.PathOf("old")));
  EXPECT_THAT(folder.Names(), ElementsAre("old"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.PathOf("old")));
}

TEST(OutputFolderTest, RemovesWhatItMadeWhereItCannotMakeTheRest) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a/" + std::string(300, 'x'));
  EXPECT_THAT(OutputFolder::Create(path),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       path + ": cannot be written: File name too long"));
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(OutputFolderTest, WritesAllFilesOrNone) {
  const TemporaryFolder folder;
  WriteText(folder.PathOf("a"), "old");
  const OutputFolder output = ValueOrDie(OutputFolder::Create(folder.path()));
  const std::string missing = folder.PathOf("no/b");
  EXPECT_THAT(
      output.Write({{"a", "new"}, {"no/b", "new"}}),
      StatusIs(absl::StatusCode::kPermissionDenied,
               missing + ": cannot be written: No such file or directory"));
  EXPECT_EQ(ReadText(folder.PathOf("a")), "old");
  EXPECT_THAT(folder.Names(), ElementsAre("a"));
}

// A folder that bears the name of a result shows only when files get names.
TEST(OutputFolderTest, WritesAllFilesOrNoneWhereANameIsTaken) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.PathOf("b"));
  const OutputFolder output = ValueOrDie(OutputFolder::Create(folder.path()));
  EXPECT_THAT(
      output.Write({{"a", "new"}, {"b", "new"}, {"c", "new"}}),
      StatusIs(absl::StatusCode::kPermissionDenied,
               folder.PathOf("b") + ": cannot be written: Is a directory"));
  EXPECT_THAT(folder.Names(), ElementsAre("b"));
}

TEST(OutputFolderTest, KeepsWhatWasBegunOnlyWithTheOtherFiles) {
  const TemporaryFolder folder;
  const std::string left = fmt::format("long.{}.999999999.tmp", HostName());
  WriteText(folder.PathOf(left), "killed");
  WriteText(folder.PathOf("old.tmp"), "of somebody else");
  const OutputFolder output = ValueOrDie(OutputFolder::Create(folder.path()));
  {
    TemporaryFile file = ValueOrDie(output.Begin("long"));
    file.Append("1\n");
  }
  EXPECT_THAT(folder.Names(), ElementsAre("old.tmp"));
  std::vector<TemporaryFile> begun;
  begun.push_back(ValueOrDie(output.Begin("long")));
  for (const std::string_view row : {"1\n", "2\n"}) begun[0].Append(row);
  constexpr std::string_view kNames[] = {"long", "a", "stale"};
  WriteText(folder.PathOf("stale"), "");
  ASSERT_TRUE(output.Write({{"a", "3\n"}}, kNames, std::move(begun)).ok());
  EXPECT_EQ(ReadText(folder.PathOf("long")), "1\n2\n");
  EXPECT_THAT(folder.Names(), UnorderedElementsAre("a", "long", "old.tmp"));
}

TEST(OutputFolderTest, SaysWhereTheDiskWasFullBeforeTheEnd) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  const TemporaryFolder folder;
  const OutputFolder output = ValueOrDie(OutputFolder::Create(folder.path()));
  std::filesystem::create_symlink(
      "/dev/full",
      folder.PathOf(fmt::format("long.{}.{}.tmp", HostName(), getpid())));
  std::vector<TemporaryFile> begun;
  begun.push_back(ValueOrDie(output.Begin("long")));
  begun[0].Append(std::string(1 << 20, 'x'));
  begun[0].Append("y");
  EXPECT_THAT(output.Write({{"a", "b"}}, {}, std::move(begun)),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       folder.PathOf("long") +
                           ": cannot be written: No space left on device"));
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(WriteFileTest, WritesWhatALinkLeadsTo) {
  const TemporaryFolder folder;
  WriteText(folder.PathOf("target"), "old");
  std::filesystem::create_symlink("target", folder.PathOf("link"));
  ASSERT_TRUE(WriteFile(folder.PathOf("link"), "new").ok());
  EXPECT_EQ(ReadText(folder.PathOf("target")), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.PathOf("link")));
}

TEST(WriteFileTest, RefusesAFolder) {
  const TemporaryFolder folder;
  EXPECT_THAT(WriteFile(folder.path(), "new"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       folder.path() + ": cannot be written: Is a directory"));
}

TEST(OutputFolderTest, KeepsWhatIsThere) {
  const TemporaryFolder folder;
  WriteText(folder.PathOf("old"), "kept");
  ASSERT_TRUE(OutputFolder::Create(folder.path()).ok());
  EXPECT_EQ(ReadText(folder.PathOf("old")), "kept");
  EXPECT_THAT(folder.Names(), ElementsAre("old"));
}

TEST(OutputFolderTest, IsRefusedBeforeTheRunWhereNothingCanBeWritten) {
  const TemporaryFolder folder;
  WriteText(folder.PathOf("file"), "");
  for (const char* name : {"file", "file/below", "file/a/b"}) {
    const std::string path = folder.PathOf(name);
    EXPECT_THAT(OutputFolder::Create(path),
                StatusIs(absl::StatusCode::kPermissionDenied,
                         path + ": cannot be written: Not a directory"));
  }
  // A folder that exists, but takes no file, even from root.
  if (std::filesystem::exists("/proc/self")) {
    EXPECT_THAT(OutputFolder::Create("/proc/self"),
                StatusIs(absl::StatusCode::kPermissionDenied,
                         "/proc/self: cannot be written: No such file or "
                         "directory"));
  }
}

}  // namespace
}  // namespace astra
