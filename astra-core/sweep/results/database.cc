#include "astra-core/sweep/results/database.h"

#include <sqlite3.h>

#include <cctype>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kApplicationId = 0x53694d53;  // The letters "SiMS".
constexpr int kBusyTimeoutMs = 10'000;

absl::Status ErrorOf(const std::string& path, int code,
                     std::string_view reason) {
  switch (code & 0xff) {  // The low byte is the code without its extension.
    case SQLITE_NOTADB:
      return DamagedDatabase(path, "it is no database");
    case SQLITE_CORRUPT:
      return DamagedDatabase(path, reason);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(fmt::format("{}: {}", path, reason));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::InternalError(
          fmt::format("{}: another process has locked it for over {} s", path,
                      kBusyTimeoutMs / 1000));
    default:
      return absl::InternalError(fmt::format("{}: {}", path, reason));
  }
}

// Returns the error of the last call on `database`.
absl::Status LastError(const std::string& path, sqlite3* database) {
  std::string reason = sqlite3_errmsg(database);
  const int code = sqlite3_extended_errcode(database);
  const int system_error = sqlite3_system_errno(database);
  // For other errors, the system's error is left over from an earlier call.
  const bool is_of_system =
      (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_IOERR;
  if (is_of_system && system_error != 0) {
    reason += fmt::format(" ({})", std::strerror(system_error));
  }
  return ErrorOf(path, code, reason);
}

// Returns a URI for `path`, with every special character escaped. A relative
// path gets "./" in front, since ":memory:" would mean something else.
std::string UriOf(const std::string& path, std::string_view query) {
  std::string uri = path.substr(0, 1) == "/" ? "file://" : "file:./";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte < 0x80 && std::isalnum(byte) != 0;
    if (is_plain || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += c;
    } else {
      uri += fmt::format("%{:02x}", byte);
    }
  }
  return fmt::format("{}?{}", uri, query);
}

// Reads the pragma `name` as a number.
absl::StatusOr<int64_t> ReadPragma(const Database& database,
                                   std::string_view name) {
  ASTRA_ASSIGN_OR_RETURN(Statement statement,
                         database.Prepare(fmt::format("PRAGMA {}", name)));
  ASTRA_RETURN_IF_ERROR(statement.Step().status());
  return statement.Integer(0);
}

absl::StatusOr<bool> HasTables(const Database& database) {
  ASTRA_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("SELECT EXISTS (SELECT 1 FROM sqlite_schema)"));
  ASTRA_RETURN_IF_ERROR(statement.Step().status());
  return statement.Integer(0) != 0;
}

// Returns true if the database is one of ours, and false if it is still empty.
absl::StatusOr<bool> CheckFormat(const Database& database) {
  ASTRA_ASSIGN_OR_RETURN(const int64_t id,
                         ReadPragma(database, "application_id"));
  ASTRA_ASSIGN_OR_RETURN(const int64_t format,
                         ReadPragma(database, "user_version"));
  ASTRA_ASSIGN_OR_RETURN(const bool has_tables, HasTables(database));
  if (id == 0 && format == 0 && !has_tables) return false;
  if (id != kApplicationId) {
    return absl::InvalidArgumentError(
        fmt::format("{}: is the database of another program: expected one with "
                    "results of a sweep",
                    database.path()));
  }
  if (format > Database::kFormat) {
    return absl::InvalidArgumentError(
        fmt::format("{}: has format {}, of a later version: expected {}",
                    database.path(), format, Database::kFormat));
  }
  return true;
}

absl::Status PrepareToRead(const Database& database) {
  ASTRA_ASSIGN_OR_RETURN(const bool is_ours, CheckFormat(database));
  if (is_ours) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "{}: is empty: expected results of a sweep", database.path()));
}

absl::Status PrepareToWrite(const Database& database) {
  // This check comes before any change, as the file may belong to another
  // program.
  ASTRA_ASSIGN_OR_RETURN(const bool is_ours, CheckFormat(database));
  // SQLite keeps its own journal mode on a file system without shared memory,
  // which is as safe, but readers may have to wait.
  ASTRA_RETURN_IF_ERROR(
      database.Run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  if (is_ours) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  ASTRA_RETURN_IF_ERROR(database.Run(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                  kApplicationId, Database::kFormat)));
  return transaction.Commit();
}

bool HasLog(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path + "-wal", error);
  return !error && bytes > 0;
}

}  // namespace

absl::Status DamagedDatabase(std::string_view path, std::string_view what) {
  return absl::InvalidArgumentError(
      fmt::format("{}: is damaged: {}; it is safe to delete it: simai_sweep "
                  "resume makes it again from the records of the points",
                  path, what));
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

// Binding fails only for texts of over 10^9 bytes.
void Statement::Bind(int position, std::string_view text) {
  // SQLite would read a null pointer as NULL instead of an empty text.
  const char* const data = text.data() == nullptr ? "" : text.data();
  const int code =
      sqlite3_bind_text64(statement_.get(), position, data, text.size(),
                          SQLITE_TRANSIENT, SQLITE_UTF8);
  ASTRA_CHECK(code == SQLITE_OK, "{}: value {}", code, position);
}

void Statement::Bind(int position, int64_t number) {
  const int code = sqlite3_bind_int64(statement_.get(), position, number);
  ASTRA_CHECK(code == SQLITE_OK, "{}: value {}", code, position);
}

void Statement::Bind(int position, double number) {
  const int code = sqlite3_bind_double(statement_.get(), position, number);
  ASTRA_CHECK(code == SQLITE_OK, "{}: value {}", code, position);
}

absl::StatusOr<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  absl::Status status =
      code == SQLITE_DONE ? absl::OkStatus() : LastError(path_, database_);
  sqlite3_reset(statement_.get());
  if (!status.ok()) return status;
  return false;
}

absl::Status Statement::Run() {
  ASTRA_ASSIGN_OR_RETURN(const bool has_row, Step());
  ASTRA_CHECK(!has_row, "{} has a row", sqlite3_sql(statement_.get()));
  return absl::OkStatus();
}

std::string Statement::Text(int position) const {
  const auto* const text = sqlite3_column_text(statement_.get(), position);
  if (text == nullptr) return "";
  const int size = sqlite3_column_bytes(statement_.get(), position);
  return {text, text + size};
}

int64_t Statement::Integer(int position) const {
  return sqlite3_column_int64(statement_.get(), position);
}

double Statement::Number(int position) const {
  return sqlite3_column_double(statement_.get(), position);
}

bool Statement::IsNull(int position) const {
  return sqlite3_column_type(statement_.get(), position) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

absl::StatusOr<Database> Database::OpenUri(const std::string& path,
                                           const std::string& uri) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      uri.c_str(), &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, nullptr);
  Database database(path);
  database.database_.reset(handle);  // SQLite returns a handle even on failure.
  if (handle == nullptr) return absl::InternalError(path + ": out of memory");
  if (code != SQLITE_OK) return LastError(path, handle);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

absl::StatusOr<Database> Database::Open(const std::string& path,
                                        Access access) {
  if (access == Access::kWrite) {
    ASTRA_ASSIGN_OR_RETURN(Database database,
                           OpenUri(path, UriOf(path, "mode=rwc")));
    // SQLite opens a file without write permission for reading, with no error.
    if (sqlite3_db_readonly(database.database_.get(), "main") != 0) {
      return absl::PermissionDeniedError(path + ": is read-only");
    }
    ASTRA_RETURN_IF_ERROR(PrepareToWrite(database));
    return database;
  }
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) {
    return absl::NotFoundError(path + ": no such file");
  }
  ASTRA_ASSIGN_OR_RETURN(Database database,
                         OpenUri(path, UriOf(path, "mode=ro")));
  const absl::Status status = PrepareToRead(database);
  if (status.ok()) return database;
  // Reading in WAL mode needs a file beside the database. Where the folder is
  // read-only and nobody writes, the database alone holds everything.
  if (!absl::IsPermissionDenied(status) || HasLog(path)) return status;
  ASTRA_ASSIGN_OR_RETURN(Database unchanging,
                         OpenUri(path, UriOf(path, "mode=ro&immutable=1")));
  ASTRA_RETURN_IF_ERROR(PrepareToRead(unchanging));
  return unchanging;
}

absl::StatusOr<Statement> Database::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(),
                         static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return LastError(path_, database_.get());
  return Statement(path_, database_.get(), statement);
}

absl::Status Database::Run(const std::string& sql) const {
  const int code =
      sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus()
                           : LastError(path_, database_.get());
}

absl::StatusOr<Transaction> Transaction::Begin(const Database& database) {
  ASTRA_RETURN_IF_ERROR(database.Run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // If the rollback fails, nothing of the transaction is kept either.
  if (database_ != nullptr) database_->Run("ROLLBACK").IgnoreError();
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

absl::Status Transaction::Commit() {
  ASTRA_RETURN_IF_ERROR(database_->Run("COMMIT"));
  database_ = nullptr;
  return absl::OkStatus();
}

}  // namespace astra
