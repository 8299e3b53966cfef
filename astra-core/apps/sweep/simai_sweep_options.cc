#include "astra-core/apps/sweep/simai_sweep_options.h"

#include <array>
#include <charconv>
#include <set>

#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "astra-core/command_line/own_folder.h"
#include "astra-core/sweep/execution/slurm_queue.h"
#include "astra-core/sweep/sweep_points.h"
#include "fmt/core.h"
#include "network-frontends/config/amounts.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_sweep COMMAND [OPERAND...] [options]\n"
    "\n"
    "Runs every point of a sweep that a file describes, here or on a Slurm\n"
    "cluster, keeps what came of them, and tells which are best. Where it was\n"
    "stopped, it goes on. A FOLDER is that of a sweep that was run. A SWEEP is "
    "a\n"
    "YAML file, as docs/formats/sweeps.md describes; the shortest:\n"
    "\n"
    "  simai_sweep: 1\n"
    "  axes: {size: [1M, 64M, 1G]}\n"
    "  simai_collective: {system: dgx-h100, min-bytes: \"${size}\", "
    "max-bytes: \"${size}\"}\n"
    "\n"
    "Commands:\n";

constexpr CommandExample kExamples[] = {
    {"simai_sweep run sweep.yaml --dry-run",
     "The points of a sweep, and what they may take:"},
    {"simai_sweep run sweep.yaml",
     "All points; the results go to results/sweep:"},
    {"simai_sweep compare results/sweep --top 5", "The best five points:"},
};

// Returns the options of one command followed by those of another.
template <size_t m, size_t n>
constexpr std::array<OptionSpec, m + n> Joined(const OptionSpec (&a)[m],
                                               const OptionSpec (&b)[n]) {
  std::array<OptionSpec, m + n> all{};
  for (size_t i = 0; i < m; ++i) all[i] = a[i];
  for (size_t i = 0; i < n; ++i) all[m + i] = b[i];
  return all;
}

constexpr OptionSpec kPlanOptions[] = {
    {"output", "o", "DIR", "Plan",
     "folder of the sweep (default ./results/NAME)"},
    {"name", "", "NAME", "Plan",
     "of the sweep (default: as its file says, or that of the file)"},
    {"dry-run", "", "", "Plan",
     "print the points, what is left out and why, and what it may take", "n"},
    {"count", "", "", "Plan", "print the number of points and stop"},
    {"point", "p", "LIST", "Plan",
     "run only these, such as 7 or 3,5-9, and leave the database alone"},
    {"relative-to", "", "DIR", "Plan",
     "what paths in the sweep file are relative to (default: its folder)"},
};

constexpr OptionSpec kExecutionOptions[] = {
    {"programs", "", "DIR", "Sweep",
     "folder of gen_topo and the others (default: that of simai_sweep)"},
    {"timeout", "", "TIME", "Sweep",
     "a point that takes longer fails, such as 600s"},
    {"keep", "", "SIZE", "Sweep",
     "remove result files of a point that are larger (default 1MiB)"},
    {"scheduler", "", "NAME", "Sweep", "local (default) or slurm"},
    {"jobs", "j", "N", "Local", "points at once (default: one a core)"},
    {"memory", "", "SIZE", "Local",
     "of all points at once, such as 16GiB (default: most of what is free)"},
    {"partition", "", "NAME", "Slurm", "as sbatch has it"},
    {"account", "", "NAME", "Slurm", "as sbatch has it"},
    {"time", "", "TIME", "Slurm", "limit of a task, such as 01:00:00"},
    {"mem", "", "SIZE", "Slurm", "memory of a task, such as 4G"},
    {"sbatch", "", "OPTIONS", "Slurm",
     "more options of sbatch: --sbatch=\"--qos=high --hold\""},
    {"throttle", "", "N", "Slurm", "tasks that run at once (default: all)"},
    {"points-per-task", "", "N", "Slurm",
     "points that a task runs (default: so that 1000 tasks are enough)"},
    {"no-wait", "", "", "Slurm", "submit, and leave it to resume to collect"},
    {"quiet", "q", "", "Output", "print errors only"},
    {"json", "", "", "Output", "print a JSON object on a line for each event"},
};

constexpr auto kRunOptions = Joined(kPlanOptions, kExecutionOptions);

constexpr OptionSpec kStatusOptions[] = {
    {"points", "", "", "Output", "a line for each point"},
    {"quiet", "q", "", "Output", "print nothing; the exit code tells"},
    {"json", "", "", "Output", "print a JSON object"},
};

constexpr OptionSpec kExportOptions[] = {
    {"csv", "", "", "Form", "comma-separated values (the default)"},
    {"json", "", "", "Form", "a JSON object on a line for each point"},
    {"cost", "", "", "Form",
     "with time, memory and host of each run, which differ between runs"},
    {"output", "o", "FILE", "Output", "the file to write (default: stdout)"},
};

constexpr OptionSpec kCompareOptions[] = {
    {"top", "", "N", "Output", "so many rows (default 10)"},
    {"html", "", "FILE", "Output",
     "write the report to it (default, of one sweep: FOLDER/report.html)"},
    {"json", "", "", "Output",
     "print a JSON object on a line for each point, best first"},
};

constexpr SweepCommand kCommands[] = {
    {"run", "SWEEP", "run the points that have not run", kRunOptions, 1, 1},
    {"resume", "FOLDER", "go on with a sweep, as its file was when it was run",
     kExecutionOptions, 1, 1},
    {"retry", "FOLDER", "the same, and run again the points that failed",
     kExecutionOptions, 1, 1},
    {"status", "FOLDER", "how far a sweep is, and what failed", kStatusOptions,
     1, 1},
    {"export", "FOLDER", "print the results for other programs", kExportOptions,
     1, 1},
    {"compare", "FOLDER [FOLDER]",
     "which points are best; or where two sweeps differ", kCompareOptions, 1,
     2},
};

constexpr int64_t kPsPerMs = 1'000'000'000;

// Returns the bytes that option `name` gives; `otherwise` if it is not given.
absl::StatusOr<int64_t> ReadBytes(const CommandLine& flags,
                                  std::string_view name, int64_t otherwise,
                                  int64_t min) {
  const std::optional<std::string> text = flags.value(name);
  if (!text) return otherwise;
  const absl::StatusOr<Bytes> size = ParseSize(*text);
  if (size.ok() && size->count() >= min) return size->count();
  return absl::InvalidArgumentError(fmt::format(
      "--{} is {}: expected a size such as 16GiB", name, Quoted(*text)));
}

absl::Status ReadLocal(const CommandLine& flags, SweepRunOptions& options) {
  LocalOptions& local = options.options.local;
  if (const auto jobs = flags.value("jobs")) {
    ASTRA_ASSIGN_OR_RETURN(local.jobs, flags.integer("jobs", 0, 1, 4096));
  }
  ASTRA_ASSIGN_OR_RETURN(local.memory_bytes, ReadBytes(flags, "memory", 0, 1));
  return absl::OkStatus();
}

// Refuses options of sbatch that simai_sweep sets itself or could not follow.
absl::Status CheckSbatch(std::string_view options) {
  for (const std::string_view part : PartsOf(options, ' ')) {
    const std::string_view name = part.substr(0, part.find('='));
    for (const std::string_view own :
         {"--array", "-a", "--output", "-o", "--chdir", "-D", "--parsable",
          "--wait", "-W", "--test-only", "--wrap"}) {
      if (name != own) continue;
      return absl::InvalidArgumentError(
          fmt::format("--sbatch has {}: simai_sweep gives it itself, or could "
                      "not follow the array",
                      Quoted(part)));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadSlurm(const CommandLine& flags, SlurmOptions& slurm) {
  const std::pair<std::string_view, std::string*> texts[] = {
      {"partition", &slurm.partition}, {"account", &slurm.account},
      {"time", &slurm.time},           {"mem", &slurm.memory},
      {"sbatch", &slurm.sbatch},
  };
  for (const auto& [name, text] : texts) {
    *text = flags.value(name).value_or("");
    if (flags.has(name) && (text->empty() || !IsPlain(*text))) {
      return absl::InvalidArgumentError(fmt::format(
          "--{} is {}: expected a value for sbatch", name, Quoted(*text)));
    }
  }
  ASTRA_RETURN_IF_ERROR(CheckSbatch(slurm.sbatch));
  const IntegerOption integers[] = {
      {"throttle", &slurm.throttle, 1'000'000},
      {"points-per-task", &slurm.points_per_task, kMaxPoints},
  };
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, integers));
  slurm.wait = !flags.has("no-wait");
  return absl::OkStatus();
}

absl::Status ReadScheduler(const CommandLine& flags, SweepRunOptions& options) {
  std::vector<std::string_view> names;
  names.reserve(Schedulers().size());
  for (const SchedulerEntry& entry : Schedulers()) names.push_back(entry.name);
  options.scheduler = flags.value("scheduler").value_or("local");
  if (std::find(names.begin(), names.end(), options.scheduler) == names.end()) {
    return absl::InvalidArgumentError(
        UnknownName("--scheduler", options.scheduler, names));
  }
  if (options.scheduler == "local") {
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags,
               {"partition", "account", "time", "mem", "sbatch", "throttle",
                "points-per-task", "no-wait"},
               "it is of --scheduler slurm"));
    return ReadLocal(flags, options);
  }
  ASTRA_RETURN_IF_ERROR(
      Refuse(flags, {"jobs", "memory"}, "it is of --scheduler local"));
  return ReadSlurm(flags, options.options.slurm);
}

absl::Status ReadPlan(const CommandLine& flags, SweepRunOptions& options) {
  options.dry_run = flags.has("dry-run");
  options.count = flags.has("count");
  if (options.dry_run && options.count) {
    return absl::InvalidArgumentError(
        "--dry-run has no effect: with --count nothing is run");
  }
  const std::optional<std::string> points = flags.value("point");
  if (!points) return absl::OkStatus();
  if (options.dry_run || options.count) {
    return absl::InvalidArgumentError(
        fmt::format("--point has no effect: with --{} nothing is run",
                    options.dry_run ? "dry-run" : "count"));
  }
  if (options.scheduler != "local") {
    return absl::InvalidArgumentError(
        "--point runs here: leave out --scheduler");
  }
  ASTRA_ASSIGN_OR_RETURN(options.points, ParsePointList(*points));
  return absl::OkStatus();
}

// Reads the number at the begin of `text` and removes it from `text`.
bool TakeNumber(std::string_view& text, uint32_t& number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number >= 1 && number <= kMaxPoints;
}

}  // namespace

absl::Span<const SweepCommand> SweepCommands() { return kCommands; }

std::string SimaiSweepHelp() {
  std::string usage(kUsage);
  for (const SweepCommand& command : kCommands) {
    usage += fmt::format("  {:<24} {}\n",
                         fmt::format("{} {}", command.name, command.operands),
                         command.help);
  }
  usage += "\nsimai_sweep COMMAND --help lists the options of a command.\n";
  return HelpText(usage, {}) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiSweepExamples() { return kExamples; }

std::string SweepCommandHelp(const SweepCommand& command) {
  return HelpText(fmt::format("usage: simai_sweep {} {} [options]\n\n{}{}.\n",
                              command.name, command.operands,
                              static_cast<char>(command.help[0] - 'a' + 'A'),
                              command.help.substr(1)),
                  command.options);
}

absl::StatusOr<const SweepCommand*> FindSweepCommand(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(std::size(kCommands));
  for (const SweepCommand& command : kCommands) {
    if (command.name == name) return &command;
    names.push_back(command.name);
  }
  return absl::InvalidArgumentError(UnknownName("command", name, names));
}

absl::StatusOr<SweepOutput> ReadSweepOutput(const CommandLine& flags) {
  if (flags.has("quiet") && flags.has("json")) {
    return absl::InvalidArgumentError(
        "--quiet has no effect: --json prints nothing else");
  }
  if (flags.has("quiet")) return SweepOutput::kQuiet;
  return flags.has("json") ? SweepOutput::kJsonLines : SweepOutput::kText;
}

absl::StatusOr<SweepRunOptions> ReadSweepRunOptions(const CommandLine& flags) {
  SweepRunOptions options;
  options.folder = flags.value("output");
  options.relative_to = flags.value("relative-to");
  options.name = flags.value("name");
  options.programs_given = flags.has("programs");
  options.keep_given = flags.has("keep");
  ASTRA_ASSIGN_OR_RETURN(options.keep_bytes,
                         ReadBytes(flags, "keep", options.keep_bytes, 0));
  options.program_folder = flags.value("programs").value_or(OwnFolder());
  for (const std::string_view name : {"output", "relative-to", "programs"}) {
    if (flags.value(name) == "") {
      return absl::InvalidArgumentError(
          fmt::format("--{} is empty: expected a folder", name));
    }
  }
  if (const std::optional<std::string> timeout = flags.value("timeout")) {
    const absl::StatusOr<TimePs> time = ParseTime(*timeout);
    if (!time.ok() || time->count() < kPsPerMs) {
      return absl::InvalidArgumentError(fmt::format(
          "--timeout is {}: expected a time such as 600s", Quoted(*timeout)));
    }
    options.options.timeout =
        std::chrono::milliseconds(time->count() / kPsPerMs);
  }
  ASTRA_RETURN_IF_ERROR(ReadScheduler(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadPlan(flags, options));
  ASTRA_ASSIGN_OR_RETURN(options.output, ReadSweepOutput(flags));
  return options;
}

absl::StatusOr<std::vector<uint32_t>> ParsePointList(std::string_view text) {
  const absl::Status error = absl::InvalidArgumentError(
      fmt::format("--point is {}: expected numbers of points, from 1 to {}, "
                  "such as 7 or 3,5-9",
                  Quoted(text), kMaxPoints));
  std::set<uint32_t> numbers;
  for (std::string_view rest = text; true; rest.remove_prefix(1)) {
    uint32_t first = 0;
    if (!TakeNumber(rest, first)) return error;
    uint32_t last = first;
    if (!rest.empty() && rest.front() == '-') {
      rest.remove_prefix(1);
      if (!TakeNumber(rest, last) || last < first) return error;
    }
    for (uint32_t number = first; number <= last; ++number) {
      if (!numbers.insert(number).second) {
        return absl::InvalidArgumentError(fmt::format(
            "--point is {}: {} is there twice", Quoted(text), number));
      }
    }
    if (rest.empty()) break;
    if (rest.front() != ',') return error;
  }
  return std::vector<uint32_t>(numbers.begin(), numbers.end());
}

}  // namespace astra
