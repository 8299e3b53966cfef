#include "astra-core/sweep/results/sweep_store.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "astra-core/base/json_writer.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/sweep/results/computed_metrics.h"
#include "astra-core/sweep/results/database.h"
#include "astra-core/sweep/results/flat_json.h"
#include "astra-core/sweep/results/requirements.h"
#include "astra-core/sweep/results/results_view.h"
#include "astra-core/sweep/results/stored_sweep.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr char kSchema[] = R"(
CREATE TABLE IF NOT EXISTS sweep (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS points (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL, variables TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS points_by_key ON points (key);
CREATE TABLE IF NOT EXISTS runs (
  key TEXT PRIMARY KEY, state TEXT NOT NULL, exit_code INTEGER NOT NULL,
  reason TEXT NOT NULL, version TEXT NOT NULL, commands TEXT NOT NULL,
  inputs TEXT NOT NULL, metrics TEXT NOT NULL, wall_s REAL NOT NULL,
  cpu_s REAL NOT NULL, peak_memory_mib REAL NOT NULL, host TEXT NOT NULL,
  ended TEXT NOT NULL, attempts INTEGER NOT NULL);
)";

constexpr std::string_view kAddRun = R"(
INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
  state = excluded.state, exit_code = excluded.exit_code,
  reason = excluded.reason, version = excluded.version,
  commands = excluded.commands, inputs = excluded.inputs,
  metrics = excluded.metrics, wall_s = excluded.wall_s, cpu_s = excluded.cpu_s,
  peak_memory_mib = excluded.peak_memory_mib, host = excluded.host,
  ended = excluded.ended, attempts = runs.attempts + excluded.attempts)";

constexpr std::string_view kRows = R"(
SELECT points.number, points.key, points.variables, runs.state, reason,
  version, commands, metrics, wall_s, cpu_s, peak_memory_mib, host, ended,
  attempts
FROM points LEFT JOIN runs ON runs.key = points.key AND
  runs.state <> 'pending'
ORDER BY points.number)";

constexpr std::string_view kFailedKeys = R"(
SELECT key FROM runs WHERE state = 'failed' AND key IN (SELECT key FROM points)
ORDER BY key)";

// A read transaction: all reads within it see one state of the database, even
// while another process writes.
class Snapshot {
 public:
  static absl::StatusOr<Snapshot> Take(const Database& database) {
    ASTRA_RETURN_IF_ERROR(database.Run("BEGIN"));
    return Snapshot(database);
  }
  ~Snapshot() {
    if (database_ != nullptr) database_->Run("COMMIT").IgnoreError();
  }
  Snapshot(Snapshot&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)) {}
  Snapshot& operator=(Snapshot&&) = delete;

 private:
  explicit Snapshot(const Database& database) : database_(&database) {}

  const Database* database_;
};

absl::Status CheckName(const Database& database, const std::string& name) {
  ASTRA_ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                         FindStoredValue(database, "name"));
  if (!stored || *stored == name) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}: holds the sweep {}, not {}; give another --output",
                  database.path(), Quoted(*stored), Quoted(name)));
}

absl::Status PutPoints(const Database& database,
                       const std::vector<std::string>& variables,
                       absl::Span<const PreparedPoint> prepared) {
  ASTRA_RETURN_IF_ERROR(database.Run("DELETE FROM points"));
  ASTRA_ASSIGN_OR_RETURN(
      Statement put, database.Prepare("INSERT INTO points VALUES (?, ?, ?)"));
  for (const PreparedPoint& point : prepared) {
    JsonWriter values;
    values.BeginObject();
    for (const std::string& name : variables) {
      const auto found = point.point.variables.find(name);
      if (found != point.point.variables.end()) {
        values.Field(name, found->second);
      }
    }
    put.Bind(1, int64_t{point.point.number});
    put.Bind(2, point.key());
    put.Bind(3, values.EndObject().text());
    ASTRA_RETURN_IF_ERROR(put.Run());
  }
  return absl::OkStatus();
}

absl::Status PutRun(const PointRecord& record, Statement& put) {
  JsonWriter inputs;
  inputs.BeginArray();
  for (const PointInput& input : record.inputs) {
    inputs.BeginObject()
        .Field("path", input.path)
        .Field("sha256", input.sha256)
        .EndObject();
  }
  JsonWriter metrics;
  metrics.BeginObject();
  for (const Metric& metric : record.metrics) {
    // JSON has neither infinity nor "not a number".
    if (std::isfinite(metric.value)) metrics.Field(metric.name, metric.value);
  }
  put.Bind(1, record.key);
  put.Bind(2, PointStateName(StateOf(record)));
  put.Bind(3, int64_t{record.exit_code});
  put.Bind(4, record.reason);
  put.Bind(5, record.version);
  put.Bind(6, JsonWriter().Texts(record.commands).text());
  put.Bind(7, inputs.EndArray().text());
  put.Bind(8, metrics.EndObject().text());
  put.Bind(9, record.cost.wall_s);
  put.Bind(10, record.cost.cpu_s);
  put.Bind(11, record.cost.peak_memory_mib);
  put.Bind(12, record.cost.host);
  put.Bind(13, record.cost.ended);
  put.Bind(14, record.cost.attempts);
  return put.Run();
}

// Returns whether the view lacks a metric of `records`.
absl::StatusOr<bool> HasNewMetric(const Database& database,
                                  absl::Span<const PointRecord> records) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         GetStoredTexts(database, "metrics"));
  const std::set<std::string> known(names.begin(), names.end());
  for (const PointRecord& record : records) {
    for (const Metric& metric : record.metrics) {
      const bool is_stored = std::isfinite(metric.value);
      if (is_stored && known.count(metric.name) == 0) return true;
    }
  }
  return false;
}

// Returns the first column of the result of `sql`.
absl::StatusOr<std::vector<std::string>> ReadTexts(const Database& database,
                                                   std::string_view sql) {
  ASTRA_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
  std::vector<std::string> texts;
  while (true) {
    ASTRA_ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row) return texts;
    texts.push_back(statement.Text(0));
  }
}

// Builds the rows of a table from the result of kRows.
class RowReader {
 public:
  RowReader(const Database& database, SweepTable* table)
      : database_(&database), table_(table) {}

  absl::Status ReadAll() {
    ASTRA_ASSIGN_OR_RETURN(Statement statement, database_->Prepare(kRows));
    while (true) {
      ASTRA_ASSIGN_OR_RETURN(const bool has_row, statement.Step());
      if (!has_row) break;
      ASTRA_RETURN_IF_ERROR(ReadPoint(statement));
      if (!statement.IsNull(3)) ASTRA_RETURN_IF_ERROR(ReadRun(statement));
    }
    table_->metrics = metrics_.names();
    for (SweepRow& row : table_->rows) {
      row.metrics.resize(table_->metrics.size());
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadPoint(const Statement& statement) {
    SweepRow& row = table_->rows.emplace_back();
    row.number = static_cast<uint32_t>(statement.Integer(0));
    row.key = statement.Text(1);
    const std::vector<std::string>& names = table_->variables;
    bool is_right =
        json_.Read(statement.Text(2)) && json_.texts.size() == names.size();
    row.values.reserve(names.size());
    for (size_t i = 0; is_right && i < names.size(); ++i) {
      is_right = json_.texts[i].first == names[i];
      row.values.push_back(std::move(json_.texts[i].second));
    }
    if (is_right) return absl::OkStatus();
    return DamagedStore(*database_,
                        fmt::format("the variables of point {}", row.number));
  }

  absl::Status ReadRun(const Statement& statement) {
    SweepRow& row = table_->rows.back();
    const std::string state = statement.Text(3);
    row.state = PointState::kFailed;
    for (const PointState known :
         {PointState::kFinished, PointState::kIllegal}) {
      if (state == PointStateName(known)) row.state = known;
    }
    row.reason = statement.Text(4);
    if (table_->version.empty()) table_->version = statement.Text(5);
    if (!json_.Read(statement.Text(6))) {
      return DamagedStore(*database_, "the commands of run " + row.key);
    }
    row.commands = json_.Texts();
    if (!json_.Read(statement.Text(7))) {
      return DamagedStore(*database_, "the metrics of run " + row.key);
    }
    for (size_t i = 0; i < json_.numbers.size(); ++i) {
      const auto& [name, value] = json_.numbers[i];
      const size_t position = metrics_.PositionOf(name, i);
      if (position >= row.metrics.size()) {
        row.metrics.resize(metrics_.names().size());
      }
      row.metrics[position] = value;
    }
    row.cost = {statement.Number(8),  statement.Number(9),
                statement.Number(10), statement.Text(11),
                statement.Text(12),   statement.Integer(13)};
    return absl::OkStatus();
  }

  const Database* database_;
  SweepTable* table_;
  NameList metrics_;
  FlatJson json_;
};

}  // namespace

class SweepStore::Connection {
 public:
  explicit Connection(Database database) : database_(std::move(database)) {}

  const Database& database() const { return database_; }

 private:
  Database database_;
};

SweepStore::SweepStore(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
SweepStore::~SweepStore() = default;
SweepStore::SweepStore(SweepStore&&) noexcept = default;

absl::StatusOr<SweepStore> SweepStore::Open(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(Database database,
                         Database::Open(path, Database::Access::kWrite));
  ASTRA_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  ASTRA_RETURN_IF_ERROR(database.Run(kSchema));
  ASTRA_RETURN_IF_ERROR(transaction.Commit());
  return SweepStore(std::make_unique<Connection>(std::move(database)));
}

absl::StatusOr<SweepStore> SweepStore::OpenToRead(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(Database database,
                         Database::Open(path, Database::Access::kRead));
  // The tables exist once a plan has been stored.
  ASTRA_ASSIGN_OR_RETURN(
      const std::vector<std::string> tables,
      ReadTexts(database,
                "SELECT name FROM sqlite_schema WHERE name = 'results'"));
  if (tables.empty()) {
    return absl::InvalidArgumentError(path + ": holds no sweep yet");
  }
  return SweepStore(std::make_unique<Connection>(std::move(database)));
}

absl::Status SweepStore::SetPlan(const Sweep& sweep, const SweepPoints& points,
                                 absl::Span<const PreparedPoint> prepared) {
  const Database& database = connection_->database();
  ASTRA_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  ASTRA_RETURN_IF_ERROR(CheckName(database, sweep.name));
  ASTRA_RETURN_IF_ERROR(PutStoredSweep(database, sweep, points));
  ASTRA_RETURN_IF_ERROR(PutPoints(database, points.variables, prepared));
  ASTRA_RETURN_IF_ERROR(MakeResultsView(database));
  return transaction.Commit();
}

absl::Status SweepStore::Add(absl::Span<const PointRecord> records) {
  const Database& database = connection_->database();
  ASTRA_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  ASTRA_ASSIGN_OR_RETURN(Statement put, database.Prepare(kAddRun));
  for (const PointRecord& record : records) {
    ASTRA_RETURN_IF_ERROR(PutRun(record, put));
  }
  ASTRA_ASSIGN_OR_RETURN(const bool has_new, HasNewMetric(database, records));
  if (has_new) ASTRA_RETURN_IF_ERROR(MakeResultsView(database));
  return transaction.Commit();
}

absl::StatusOr<std::vector<std::string>> SweepStore::ForgetFailed() {
  const Database& database = connection_->database();
  ASTRA_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  ASTRA_ASSIGN_OR_RETURN(std::vector<std::string> keys,
                         ReadTexts(database, kFailedKeys));
  ASTRA_RETURN_IF_ERROR(
      database.Run("UPDATE runs SET state = 'pending' WHERE state = 'failed' "
                   "AND key IN (SELECT key FROM points)"));
  ASTRA_RETURN_IF_ERROR(transaction.Commit());
  return keys;
}

absl::StatusOr<size_t> SweepStore::CountFailed() const {
  ASTRA_ASSIGN_OR_RETURN(
      Statement count,
      connection_->database().Prepare(
          "SELECT count(*) FROM points JOIN runs ON runs.key = points.key "
          "AND runs.state = 'failed'"));
  ASTRA_RETURN_IF_ERROR(count.Step().status());
  return static_cast<size_t>(count.Integer(0));
}

absl::StatusOr<std::set<std::string>> SweepStore::PendingKeys() const {
  ASTRA_ASSIGN_OR_RETURN(
      const std::vector<std::string> keys,
      ReadTexts(connection_->database(),
                "SELECT DISTINCT key FROM points WHERE key NOT IN "
                "(SELECT key FROM runs WHERE state <> 'pending') "
                "ORDER BY key"));
  return std::set<std::string>(keys.begin(), keys.end());
}

absl::StatusOr<SweepTable> SweepStore::Table() const {
  const Database& database = connection_->database();
  ASTRA_ASSIGN_OR_RETURN(const Snapshot snapshot, Snapshot::Take(database));
  ASTRA_ASSIGN_OR_RETURN(StoredSweep stored, GetStoredSweep(database));
  RowReader reader(database, &stored.table);
  ASTRA_RETURN_IF_ERROR(reader.ReadAll());
  ApplyMemory(stored.allows_misfits, stored.table);
  AddComputedMetrics(stored.computed, stored.table);
  ApplyRequirements(stored.requirements, stored.table);
  return std::move(stored.table);
}

}  // namespace astra
