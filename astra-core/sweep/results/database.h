// Wraps SQLite: errors are values, and statements free themselves.
//
//   ASTRA_ASSIGN_OR_RETURN(Statement insert, database.Prepare("INSERT ..."));
//   insert.Bind(1, key);
//   ASTRA_RETURN_IF_ERROR(insert.Run());

#ifndef ASTRA_CORE_SWEEP_RESULTS_DATABASE_H_
#define ASTRA_CORE_SWEEP_RESULTS_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace astra {

// Returns InvalidArgument "PATH: is damaged: WHAT; ...". The message also says
// that deleting the file loses nothing.
absl::Status DamagedDatabase(std::string_view path, std::string_view what);

class Statement {
 public:
  // Sets the value of a parameter. Positions are counted from 1.
  void Bind(int position, std::string_view text);
  void Bind(int position, int64_t number);
  void Bind(int position, double number);

  // Moves to the next row. Returns false after the last row.
  absl::StatusOr<bool> Step();

  // Runs a statement without rows and resets it, so that it can run again.
  absl::Status Run();

  // Return the values of the current row. Positions are counted from 0.
  std::string Text(int position) const;
  int64_t Integer(int position) const;
  double Number(int position) const;
  bool IsNull(int position) const;

 private:
  friend class Database;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  Statement(std::string path, sqlite3* database, sqlite3_stmt* statement)
      : path_(std::move(path)), database_(database), statement_(statement) {}

  std::string path_;
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Access : uint8_t { kRead, kWrite };

  // Opens a database of sweep results, recognised by its application id. With
  // kWrite, a missing database is created, and it is put into WAL mode: a
  // commit is on disk when it returns and does not disturb readers.
  //
  // Errors, each "PATH: reason": NotFound where a database to be read does not
  // exist; InvalidArgument for a file that is not such a database, is damaged,
  // or has a format later than kFormat; PermissionDenied where the system
  // refuses; Internal otherwise. Statements have these errors too.
  static absl::StatusOr<Database> Open(const std::string& path, Access access);

  static constexpr int64_t kFormat = 1;

  absl::StatusOr<Statement> Prepare(std::string_view sql) const;

  // Runs statements that take no values and return no rows, separated by
  // semicolons.
  absl::Status Run(const std::string& sql) const;

  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  explicit Database(std::string path) : path_(std::move(path)) {}

  static absl::StatusOr<Database> OpenUri(const std::string& path,
                                          const std::string& uri);

  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

// A transaction: starts with BEGIN IMMEDIATE, and its destructor rolls back
// unless Commit() was called.
class Transaction {
 public:
  static absl::StatusOr<Transaction> Begin(const Database& database);
  ~Transaction();
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;

  absl::Status Commit();

 private:
  explicit Transaction(const Database& database) : database_(&database) {}

  const Database* database_;  // Null once the transaction is over.
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_DATABASE_H_
