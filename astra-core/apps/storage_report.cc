#include "astra-core/apps/storage_report.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "absl/numeric/int128.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

// How files call the transfers of a kind, and how the summary counts them.
struct KindWords {
  std::string_view name;
  std::string_view one;
  std::string_view many;
};

const KindWords& WordsOf(StorageKind kind) {
  static constexpr KindWords kWords[] = {
      {"checkpoint", "checkpoint", "checkpoints"},
      {"restore", "restore", "restores"},
      {"data", "read", "reads"}};
  static_assert(std::size(kWords) == std::size(kStorageKinds));
  return kWords[static_cast<size_t>(kind)];
}

// The transfers of one kind of a job.
struct Sum {
  int64_t count = 0;
  Bytes bytes;  // Of each.
  TimePs shortest;
  TimePs longest;
  absl::int128 time = 0;  // Of all, in ps.
  TimePs waited;          // Of all.

  TimePs mean() const { return TimePs(static_cast<int64_t>(time / count)); }
  double GBps() const { return StorageGBps(bytes, mean()); }
};

Sum SumOf(const JobResult& result, StorageKind kind) {
  Sum sum;
  for (const StorageTransfer& transfer : result.transfers) {
    if (transfer.kind != kind) continue;
    const TimePs time = transfer.end - transfer.begin;
    sum.shortest = sum.count == 0 ? time : std::min(sum.shortest, time);
    sum.longest = std::max(sum.longest, time);
    ++sum.count;
    sum.bytes = transfer.bytes;
    sum.time += time.count();
    sum.waited += transfer.waited;
  }
  return sum;
}

std::string DescribeSum(const Sum& sum, std::string_view job,
                        StorageKind kind) {
  const bool is_one = sum.count == 1;
  const KindWords& words = WordsOf(kind);
  const std::string_view what = is_one ? words.one : words.many;
  std::string text = fmt::format(
      "storage    {}: {} {} of {:.3f} GB in {:.6f} ms{}, {:.3f} GB/s", job,
      sum.count, what, static_cast<double>(sum.bytes.count()) * 1e-9,
      ToMilliseconds(sum.mean()), is_one ? "" : " on average", sum.GBps());
  if (sum.shortest < sum.longest) {
    text += fmt::format(", {:.6f} to {:.6f} ms", ToMilliseconds(sum.shortest),
                        ToMilliseconds(sum.longest));
  }
  if (sum.waited == TimePs(0)) return text + "; no iteration waited\n";
  return text + fmt::format("; iterations waited {:.6f} ms in all\n",
                            ToMilliseconds(sum.waited));
}

// Returns what iterations take in the mean of a long run, if they then wait for
// reads or for checkpoints that are written beside them; none if they do not. A
// short run does not show it: its first iterations have their data, and nothing
// waits for what is under way at its end. This is about right, since reads and
// checkpoints of a short run may slow one another, and iterations, by more or
// by less than those of a long one.
std::optional<TimePs> BoundByStorage(const StorageUse& use,
                                     const JobResult& result) {
  TimePs beside;  // At least the time of what goes on beside iterations.
  TimePs own;     // Of an iteration, with what it always waits for.
  for (const JobIteration& iteration : result.iterations) {
    own += iteration.end - iteration.begin;
  }
  own = TimePs(own.count() / static_cast<int64_t>(result.iterations.size()));
  const Sum reads = SumOf(result, StorageKind::kData);
  if (reads.count > 0) {
    if (use.data->ahead > 0) {
      beside = reads.mean();
    } else {
      own += reads.mean();
    }
  }
  const Sum writes = SumOf(result, StorageKind::kCheckpoint);
  if (writes.count > 0 && !use.checkpoint->is_timed()) {
    const auto share = [&](TimePs time) {
      return TimePs(time.count() / use.checkpoint->every);
    };
    const TimePs pause = use.checkpoint->pause;
    const TimePs whole = share(writes.mean() + pause);
    own += use.checkpoint->blocks ? whole : share(pause);
    beside = std::max(beside, whole);
  }
  if (beside <= own) return std::nullopt;
  return beside;
}

}  // namespace

bool UsesStorage(absl::Span<const Job> jobs) {
  return std::any_of(jobs.begin(), jobs.end(),
                     [](const Job& job) { return job.uses_storage(); });
}

std::vector<StorageRow> StorageRowsOf(absl::Span<const Job> jobs,
                                      absl::Span<const JobResult> results) {
  std::vector<StorageRow> rows;
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (const StorageTransfer& transfer : results[i].transfers) {
      rows.push_back({.job = jobs[i].name,
                      .kind = WordsOf(transfer.kind).name,
                      .iteration = transfer.iteration,
                      .begin = transfer.begin,
                      .end = transfer.end,
                      .bytes = transfer.bytes,
                      .waited = transfer.waited});
    }
  }
  return rows;
}

std::string DescribeStorage(const StorageUse& use, const JobResult& result,
                            const JobRow& row) {
  if (!row.without_storage) return "";
  std::string text;
  for (const StorageKind kind : kStorageKinds) {
    const Sum sum = SumOf(result, kind);
    if (sum.count > 0) text += DescribeSum(sum, row.name, kind);
  }
  text += fmt::format(
      "storage    {}: an iteration takes {:.6f} ms without, and {:.3f} times "
      "as long with it\n",
      row.name, ToMilliseconds(*row.without_storage), row.storage_slowdown());
  if (const std::optional<TimePs> bound = BoundByStorage(use, result)) {
    text += fmt::format(
        "storage    {}: bound by storage: a long run takes about {:.3f} ms "
        "an iteration\n",
        row.name, ToMilliseconds(*bound));
  }
  return text;
}

Json StorageJson(const JobResult& result, const JobRow& row) {
  Json json = {{"iteration_without_ps", row.without_storage->count()},
               {"iteration_ps", row.mean().count()}};
  for (const StorageKind kind : kStorageKinds) {
    const Sum sum = SumOf(result, kind);
    if (sum.count == 0) continue;
    json[WordsOf(kind).name] = {{"count", sum.count},
                                {"bytes", sum.bytes.count()},
                                {"mean_ps", sum.mean().count()},
                                {"longest_ps", sum.longest.count()},
                                {"GBps", sum.GBps()},
                                {"waited_ps", sum.waited.count()}};
  }
  return json;
}

}  // namespace astra
