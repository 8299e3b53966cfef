#include "astra-core/sweep/results/database.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ReadText;
using testing::StatusIs;
using testing::TemporaryFolder;
using testing::ValueOrDie;
using testing::WriteText;

constexpr auto kRead = Database::Access::kRead;
constexpr auto kWrite = Database::Access::kWrite;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// The first value that `sql` gives.
std::string TextOf(const Database& database, std::string_view sql) {
  Statement statement = ValueOrDie(database.Prepare(sql));
  ASTRA_CHECK(ValueOrDie(statement.Step()), "no row: {}", sql);
  return statement.Text(0);
}

// A database with a table "t" of the numbers 1 and 2.
void MakeDatabase(const std::string& path) {
  const Database database = ValueOrDie(Database::Open(path, kWrite));
  const absl::Status status =
      database.Run("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)");
  ASTRA_CHECK(status.ok(), "{}", status.ToString());
}

constexpr std::string_view kSum = "SELECT sum(x) FROM t";

// Files have owners that may do less than the one who runs the tests.
class WithoutRights {
 public:
  WithoutRights() { ASTRA_CHECK(geteuid() != 0 || seteuid(kNobody) == 0, ""); }
  ~WithoutRights() {
    ASTRA_CHECK(getuid() != 0 || seteuid(0) == 0, "stays without rights");
  }
  WithoutRights(const WithoutRights&) = delete;
  WithoutRights& operator=(const WithoutRights&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
};

void SetRights(const std::string& path, unsigned rights) {
  std::filesystem::permissions(path,
                               static_cast<std::filesystem::perms>(rights));
}

TEST(DatabaseTest, WritesAheadToALogAndSyncsEachCommit) {
  const TemporaryFolder folder;
  const Database database =
      ValueOrDie(Database::Open(folder.PathOf("a.db"), kWrite));
  EXPECT_EQ(TextOf(database, "PRAGMA journal_mode"), "wal");
  EXPECT_EQ(TextOf(database, "PRAGMA synchronous"), "2");  // Full.
  EXPECT_EQ(TextOf(database, "PRAGMA busy_timeout"), "10000");
}

TEST(DatabaseTest, HoldsValuesAsTheyAre) {
  const TemporaryFolder folder;
  const Database database =
      ValueOrDie(Database::Open(folder.PathOf("a.db"), kWrite));
  ASSERT_TRUE(database.Run("CREATE TABLE t (a, b, c, d, e)").ok());
  Statement insert =
      ValueOrDie(database.Prepare("INSERT INTO t VALUES (?, ?, ?, ?, NULL)"));
  const std::string odd("a\0'\"\xff", 5);
  insert.Bind(1, odd);
  insert.Bind(2, int64_t{-9'007'199'254'740'993});
  insert.Bind(3, 0.1);
  insert.Bind(4, std::string_view());
  ASSERT_TRUE(insert.Run().ok());
  insert.Bind(2, int64_t{5});
  ASSERT_TRUE(insert.Run().ok());  // The other values are as before.

  Statement select = ValueOrDie(database.Prepare("SELECT * FROM t"));
  ASSERT_TRUE(ValueOrDie(select.Step()));
  EXPECT_EQ(select.Text(0), odd);
  EXPECT_EQ(select.Integer(1), -9'007'199'254'740'993);
  EXPECT_EQ(select.Number(2), 0.1);
  EXPECT_EQ(select.Text(3), "");
  EXPECT_FALSE(select.IsNull(3));
  EXPECT_TRUE(select.IsNull(4));
  ASSERT_TRUE(ValueOrDie(select.Step()));
  EXPECT_EQ(select.Text(0), odd);
  EXPECT_EQ(select.Integer(1), 5);
  EXPECT_FALSE(ValueOrDie(select.Step()));
  EXPECT_TRUE(ValueOrDie(select.Step()));  // From the start again.
}

TEST(DatabaseTest, ReportsWrongStatements) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a.db");
  const Database database = ValueOrDie(Database::Open(path, kWrite));
  EXPECT_THAT(
      database.Prepare("SELECT * FROM t"),
      StatusIs(absl::StatusCode::kInternal, path + ": no such table: t"));
  EXPECT_THAT(database.Run("CREATE TABLE t (x UNIQUE); INSERT INTO t VALUES "
                           "(1), (1)"),
              StatusIs(absl::StatusCode::kInternal,
                       path + ": UNIQUE constraint failed: t.x"));
}

TEST(TransactionTest, LeavesNothingUnlessCommitted) {
  const TemporaryFolder folder;
  MakeDatabase(folder.PathOf("a.db"));
  const Database database =
      ValueOrDie(Database::Open(folder.PathOf("a.db"), kWrite));
  {
    const Transaction transaction = ValueOrDie(Transaction::Begin(database));
    ASSERT_TRUE(database.Run("INSERT INTO t VALUES (10)").ok());
    EXPECT_EQ(TextOf(database, kSum), "13");
  }
  EXPECT_EQ(TextOf(database, kSum), "3");
  {
    Transaction transaction = ValueOrDie(Transaction::Begin(database));
    ASSERT_TRUE(database.Run("INSERT INTO t VALUES (20)").ok());
    ASSERT_TRUE(transaction.Commit().ok());
  }
  EXPECT_EQ(TextOf(database, kSum), "23");
}

TEST(DatabaseTest, IsReadWhileItIsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a.db");
  MakeDatabase(path);
  const Database writer = ValueOrDie(Database::Open(path, kWrite));
  Transaction transaction = ValueOrDie(Transaction::Begin(writer));
  ASSERT_TRUE(writer.Run("INSERT INTO t VALUES (10)").ok());

  const Database reader = ValueOrDie(Database::Open(path, kRead));
  EXPECT_EQ(TextOf(reader, kSum), "3");
  ASSERT_TRUE(transaction.Commit().ok());
  EXPECT_EQ(TextOf(reader, kSum), "13");
  EXPECT_THAT(reader.Run("DELETE FROM t"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       path + ": attempt to write a readonly database"));
}

TEST(DatabaseTest, IsReadInAFolderThatIsReadOnly) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a.db");
  MakeDatabase(path);
  ASSERT_THAT(folder.Names(), ElementsAre("a.db"));
  SetRights(path, 0444);
  SetRights(folder.path(), 0555);
  {
    const WithoutRights without_rights;
    const Database reader = ValueOrDie(Database::Open(path, kRead));
    EXPECT_EQ(TextOf(reader, kSum), "3");
    EXPECT_THAT(
        Database::Open(path, kWrite),
        StatusIs(absl::StatusCode::kPermissionDenied, path + ": is read-only"));
  }
  SetRights(folder.path(), 0755);
}

// What is in the log would be missing.
TEST(DatabaseTest, IsNotReadWithoutItsLogInAFolderThatIsReadOnly) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a.db");
  MakeDatabase(path);
  WriteText(path + "-wal", "a log");
  SetRights(path + "-wal", 0444);
  SetRights(folder.path(), 0555);
  {
    const WithoutRights without_rights;
    EXPECT_THAT(
        Database::Open(path, kRead),
        StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(path + ": ")));
  }
  SetRights(folder.path(), 0755);
}

TEST(DatabaseTest, HasAnyName) {
  const TemporaryFolder folder;
  for (const std::string name :
       {"a b?mode=memory", "%41#1&x=y", ":memory:", "\xc3\xa9'\"", "%00"}) {
    MakeDatabase(folder.PathOf(name));
    EXPECT_THAT(folder.Names(), Contains(name));
    const Database reader =
        ValueOrDie(Database::Open(folder.PathOf(name), kRead));
    EXPECT_EQ(TextOf(reader, kSum), "3") << name;
  }
}

TEST(DatabaseTest, HasAnyNameInTheFolderOfTheProcess) {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  MakeDatabase(":memory:");
  std::filesystem::current_path(before);
  EXPECT_THAT(folder.Names(), ElementsAre(":memory:"));
}

TEST(DatabaseTest, IsMissingOrCannotBeMade) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("no/a.db");
  EXPECT_THAT(Database::Open(path, kRead),
              StatusIs(absl::StatusCode::kNotFound, path + ": no such file"));
  EXPECT_THAT(Database::Open(path, kWrite),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       path + ": unable to open database file (No such file or "
                              "directory)"));
  EXPECT_THAT(Database::Open(folder.path(), kWrite),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("unable to open database file")));
}

TEST(DatabaseTest, RefusesAFileThatIsNone) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a.db");
  const std::string text(5000, 'x');
  WriteText(path, text);
  for (const Database::Access access : {kRead, kWrite}) {
    EXPECT_THAT(
        Database::Open(path, access),
        StatusIs(kInvalid, HasSubstr(path + ": is damaged: it is no database; "
                                            "it is safe to delete it")));
  }
  EXPECT_EQ(ReadText(path), text);
}

TEST(DatabaseTest, LeavesDatabasesOfOthersAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a.db");
  MakeDatabase(path);
  for (const std::string id : {"0", "7"}) {
    {
      const Database database = ValueOrDie(Database::Open(path, kWrite));
      ASSERT_TRUE(database
                      .Run("PRAGMA journal_mode = DELETE; "
                           "PRAGMA application_id = " +
                           id)
                      .ok());
    }
    const std::string bytes = ReadText(path);
    for (const Database::Access access : {kRead, kWrite}) {
      EXPECT_THAT(Database::Open(path, access),
                  StatusIs(kInvalid, path + ": is the database of another "
                                            "program: expected one with "
                                            "results of a sweep"));
    }
    EXPECT_EQ(ReadText(path), bytes);
    std::filesystem::remove(path);
    MakeDatabase(path);
  }
}

TEST(DatabaseTest, RefusesALaterFormat) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a.db");
  {
    const Database database = ValueOrDie(Database::Open(path, kWrite));
    ASSERT_TRUE(database.Run("PRAGMA user_version = 2").ok());
  }
  for (const Database::Access access : {kRead, kWrite}) {
    EXPECT_THAT(Database::Open(path, access),
                StatusIs(kInvalid,
                         path + ": has format 2, of a later version: expected "
                                "1"));
  }
}

// A kill may leave one.
TEST(DatabaseTest, MakesAnEmptyFileOneOfItsOwn) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a.db");
  WriteText(path, "");
  EXPECT_THAT(
      Database::Open(path, kRead),
      StatusIs(kInvalid, path + ": is empty: expected results of a sweep"));
  MakeDatabase(path);
  EXPECT_EQ(TextOf(ValueOrDie(Database::Open(path, kRead)), kSum), "3");
}

TEST(DatabaseTest, SaysThatItIsDamaged) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a.db");
  MakeDatabase(path);
  std::string bytes = ReadText(path);
  ASSERT_EQ(bytes.size(), 2 * 4096);  // The schema and "t", a page each.
  bytes.replace(4096, 100, std::string(100, '\xff'));
  WriteText(path, bytes);
  const Database database = ValueOrDie(Database::Open(path, kRead));
  Statement select = ValueOrDie(database.Prepare(kSum));
  EXPECT_THAT(select.Step(),
              StatusIs(kInvalid,
                       path + ": is damaged: database disk image is malformed; "
                              "it is safe to delete it: simai_sweep resume "
                              "makes it again from the records of the points"));

  WriteText(path, bytes.substr(0, 3000));
  EXPECT_THAT(Database::Open(path, kWrite),
              StatusIs(kInvalid, HasSubstr(path + ": is ")));
}

}  // namespace
}  // namespace astra
