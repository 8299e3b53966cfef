#include "workload/program_file.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

constexpr std::string_view kMark = "simai_program";
constexpr int64_t kVersion = 1;
constexpr std::string_view kPhaseNames[] = {"training", "inference"};
constexpr StepKind kStepKinds[] = {StepKind::kCompute, StepKind::kBlocking,
                                   StepKind::kLaunch, StepKind::kPrefetch,
                                   StepKind::kWait};
constexpr StepWhen kStepWhens[] = {StepWhen::kEach, StepWhen::kFirst,
                                   StepWhen::kLast};

template <class T, size_t n>
std::vector<std::string_view> NamesOf(const T (&values)[n]) {
  std::vector<std::string_view> names;
  for (const T value : values) names.push_back(Name(value));
  return names;
}

class Parser {
 public:
  Parser(std::string_view file, std::string_view contents)
      : document_(file, contents) {}

  absl::StatusOr<Program> Parse() {
    YamlFields root = document_.Root("a program");
    root.Integer(kMark, kVersion, kVersion);
    ReadSizes(root);
    parts_.forward_only = root.ChoiceOr("phase", 0, kPhaseNames) == 1;
    ReadSchedule(root);
    parts_.pipeline_message = Bytes(root.IntegerOr("pipeline_message", 0));
    ReadGpu(root);
    ReadWork(root);
    ReadRouting(root);
    for (YamlFields& fields : root.Maps("modules", "a module")) {
      ReadModule(fields);
    }
    for (YamlFields& fields : root.Maps("stages", "a stage")) {
      ReadStage(fields);
    }
    root.Close();
    ASTRA_RETURN_IF_ERROR(document_.status());
    absl::StatusOr<Program> program = Program::Create(std::move(parts_));
    if (program.ok()) return program;
    document_.ErrorAt(FieldOf(program.status()),
                      std::string(program.status().message()));
    return document_.status();
  }

 private:
  void ReadSizes(YamlFields& root) {
    if (!root.has("sizes")) root.Error("sizes", "a program has no \"sizes\"");
    YamlFields fields = root.Map("sizes", "sizes");
    constexpr int64_t kMax = ParallelPlan::kMaxRanks;
    ParallelSizes& sizes = parts_.sizes;
    sizes.num_ranks = fields.Integer("gpus", 1, kMax);
    sizes.tensor = fields.IntegerOr("tp", 1, 1, kMax);
    sizes.context = fields.IntegerOr("cp", 1, 1, kMax);
    sizes.pipeline = fields.IntegerOr("pp", 1, 1, kMax);
    sizes.expert = fields.IntegerOr("ep", 1, 1, kMax);
    sizes.expert_tensor = fields.IntegerOr("etp", sizes.tensor, 1, kMax);
    sizes.virtual_stages = fields.IntegerOr("vpp", 1, 1, kMax);
    sizes.micro_batches = fields.IntegerOr("micro_batches", 1, 1, kMax);
    const absl::StatusOr<RankOrder> order =
        ParseRankOrder(fields.TextOr("order", Name(sizes.order)));
    if (order.ok()) {
      sizes.order = *order;
    } else {
      fields.Error("order", std::string(order.status().message()));
    }
    fields.Close();
  }

  void ReadSchedule(YamlFields& root) {
    parts_.schedule = DefaultSchedule(parts_.sizes.virtual_stages);
    if (!root.has("schedule")) return;
    const absl::StatusOr<PipelineSchedule> schedule =
        FindSchedule(root.Text("schedule"));
    if (schedule.ok()) {
      parts_.schedule = *schedule;
    } else {
      root.Error("schedule", std::string(schedule.status().message()));
    }
  }

  void ReadGpu(YamlFields& root) {
    YamlFields fields = root.Map("gpu", "the GPU");
    parts_.gpu.name = fields.TextOr("name", "");
    parts_.gpu.memory = Bytes(fields.IntegerOr("memory", 0));
    parts_.gpu.peak_tflops = fields.NumberOr("peak_tflops", 0);
    parts_.gpu.communication_slowdown =
        fields.NumberOr("communication_slowdown", 0);
    fields.Close();
  }

  void ReadWork(YamlFields& root) {
    YamlFields fields = root.Map("work", "the work of an iteration");
    parts_.work.tokens = fields.IntegerOr("tokens", 0);
    parts_.work.model_flops = fields.NumberOr("model_flops", 0);
    fields.Close();
  }

  void ReadRouting(YamlFields& root) {
    if (!root.has("routing")) return;
    YamlFields fields = root.Map("routing", "the routing");
    constexpr int64_t kMax = ExpertRouting::kMaxExperts;
    ExpertRouting& routing = parts_.routing.emplace();
    routing.experts = fields.Integer("experts", 1, kMax);
    routing.top_k = fields.Integer("top_k", 1, kMax);
    routing.groups = fields.IntegerOr("groups", 1, 1, kMax);
    routing.top_groups = fields.IntegerOr("top_groups", 1, 1, kMax);
    constexpr int64_t kMaxBytes = int64_t{1} << 32;
    routing.dispatch_bytes =
        fields.IntegerOr("dispatch_bytes", 0, 1, kMaxBytes);
    routing.combine_bytes = fields.IntegerOr("combine_bytes", 0, 1, kMaxBytes);
    fields.Close();
  }

  static ModuleMemory ReadMemory(YamlFields& module) {
    YamlFields fields = module.Map("memory", "the memory of a module");
    const auto read = [&](std::string_view key) {
      return Bytes(fields.IntegerOr(key, 0, 0, Program::kMaxMemory.count()));
    };
    ModuleMemory memory;
    memory.weights = read("weights");
    memory.gradients = read("gradients");
    memory.optimizer = read("optimizer");
    memory.saved = read("saved");
    memory.workspace = read("workspace");
    memory.cache = read("cache");
    fields.Close();
    return memory;
  }

  void ReadModule(YamlFields& fields) {
    ProgramModule module;
    module.name = fields.Text("name");
    module.memory = ReadMemory(fields);
    for (const ModulePass pass : kModulePasses) {
      for (YamlFields& step : fields.Maps(Name(pass), "a step")) {
        module.passes[IndexOf(pass)].push_back(ReadStep(step));
      }
    }
    fields.Close();
    const auto id = static_cast<uint32_t>(parts_.modules.size());
    if (!ids_.try_emplace(module.name, id).second) {
      fields.Error(
          "name", fmt::format("module {} is there twice", Quoted(module.name)));
    }
    parts_.modules.push_back(std::move(module));
  }

  Step ReadStep(YamlFields& fields) {
    Step step;
    const std::vector<std::string_view> kinds = NamesOf(kStepKinds);
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(),
                     [&](std::string_view name) { return fields.has(name); });
    if (kind == kinds.end()) {
      fields.Error("", fmt::format("a step has none of the fields {}",
                                   fmt::join(kinds, ", ")));
      return step;
    }
    step.kind = kStepKinds[kind - kinds.begin()];
    if (step.kind == StepKind::kCompute) {
      step.compute = ReadTime(fields, *kind);
    } else if (step.kind == StepKind::kWait) {
      step.communication.dimension = ReadDimension(fields, *kind);
    } else {
      step.communication.kind =
          kCollectiveKinds[fields.Choice(*kind, NamesOf(kCollectiveKinds))];
      step.communication.dimension = ReadDimension(fields, "over");
      step.communication.bytes = Bytes(fields.Integer("bytes"));
    }
    step.when = kStepWhens[fields.ChoiceOr("when", 0, NamesOf(kStepWhens))];
    fields.Close();
    return step;
  }

  ParallelDimension ReadDimension(YamlFields& fields, std::string_view key) {
    return kParallelDimensions[fields.Choice(key,
                                             NamesOf(kParallelDimensions))];
  }

  TimePs ReadTime(YamlFields& fields, std::string_view key) {
    const absl::StatusOr<TimePs> time = ParseTime(fields.Text(key));
    if (time.ok()) return *time;
    fields.Error(key, std::string(time.status().message()));
    return TimePs(0);
  }

  void ReadStage(YamlFields& fields) {
    constexpr int64_t kMaxTimes = Program::kMaxOccurrences;
    ProgramStage stage;
    stage.count = fields.IntegerOr("count", 1, 1, ParallelPlan::kMaxRanks);
    for (YamlFields& run : fields.Maps("run", "a run of modules")) {
      const int64_t times = run.IntegerOr("times", 1, 1, kMaxTimes);
      const int64_t chunk = run.IntegerOr("chunk", 0, 0, kMaxTimes);
      stage.runs.push_back({times, ReadModuleIds(run, "modules"), chunk});
      run.Close();
    }
    stage.after = ReadModuleIds(fields, "after");
    fields.Close();
    parts_.stages.push_back(std::move(stage));
  }

  std::vector<ModuleId> ReadModuleIds(YamlFields& fields,
                                      std::string_view key) {
    std::vector<ModuleId> ids;
    for (const std::string& name : fields.Texts(key)) {
      const auto found = ids_.find(name);
      if (found != ids_.end()) {
        ids.push_back(ModuleId(found->second));
        continue;
      }
      std::vector<std::string_view> names;
      for (const auto& [known, _] : ids_) names.push_back(known);
      fields.Error(key, UnknownName("module", name, names));
      break;
    }
    return ids;
  }

  YamlDocument document_;
  ProgramParts parts_;
  std::map<std::string, uint32_t, std::less<>> ids_;  // Module ids by name.
};

// Returns the exact time in microseconds: "812.113us", "0.000001us".
std::string FormatTime(TimePs time) {
  std::string text =
      fmt::format("{}.{:06}", time.count() / kPsPerUs, time.count() % kPsPerUs);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "us";
}

// Quotes names that YAML could mistake for something else; most need no quotes.
std::string FormatName(std::string_view name) {
  const bool is_bare = std::all_of(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(c));
  if (is_bare && lower != "null") return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string FormatStep(const Step& step) {
  const std::string when = step.when == StepWhen::kEach
                               ? ""
                               : fmt::format(", when: {}", Name(step.when));
  const auto& [kind, dimension, bytes] = step.communication;
  switch (step.kind) {
    case StepKind::kCompute:
      return fmt::format("{{compute: {}{}}}", FormatTime(step.compute), when);
    case StepKind::kWait:
      return fmt::format("{{wait: {}{}}}", Name(dimension), when);
    default:
      return fmt::format("{{{}: {}, over: {}, bytes: {}{}}}", Name(step.kind),
                         Name(kind), Name(dimension), bytes.count(), when);
  }
}

// Returns text such as "{weights: 1024, saved: 512}", without zero sizes.
std::string FormatMemory(const ModuleMemory& memory) {
  const auto& [weights, gradients, optimizer, saved, workspace, cache] = memory;
  const std::pair<std::string_view, Bytes> parts[] = {
      {"weights", weights}, {"gradients", gradients}, {"optimizer", optimizer},
      {"saved", saved},     {"workspace", workspace}, {"cache", cache}};
  std::vector<std::string> texts;
  for (const auto& [name, bytes] : parts) {
    if (bytes == Bytes(0)) continue;
    texts.push_back(fmt::format("{}: {}", name, bytes.count()));
  }
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

std::string FormatModule(const ProgramModule& module) {
  std::string text = fmt::format("  - name: {}\n", FormatName(module.name));
  if (module.memory != ModuleMemory()) {
    text += fmt::format("    memory: {}\n", FormatMemory(module.memory));
  }
  for (const ModulePass pass : kModulePasses) {
    const std::vector<Step>& steps = module.passes[IndexOf(pass)];
    if (steps.empty()) continue;
    text += fmt::format("    {}:\n", Name(pass));
    for (const Step& step : steps) {
      text += fmt::format("      - {}\n", FormatStep(step));
    }
  }
  return text;
}

std::string FormatNames(const Program& program,
                        absl::Span<const ModuleId> ids) {
  std::vector<std::string> names;
  for (const ModuleId id : ids) {
    names.push_back(FormatName(program.module(id).name));
  }
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string FormatSizes(const ParallelSizes& sizes) {
  return fmt::format(
      "sizes: {{gpus: {}, tp: {}, cp: {}, pp: {}, ep: {}, etp: {}, vpp: {}, "
      "micro_batches: {}{}}}\n",
      sizes.num_ranks, sizes.tensor, sizes.context, sizes.pipeline,
      sizes.expert, sizes.expert_tensor.value_or(sizes.tensor),
      sizes.virtual_stages, sizes.micro_batches,
      sizes.order == RankOrder()
          ? ""
          : fmt::format(", order: {}", Name(sizes.order)));
}

// Returns text such as "routing: {experts: 8, top_k: 2}\n", without groups
// where all experts are one group.
std::string FormatRouting(const ExpertRouting& routing) {
  const std::string groups =
      routing.groups == 1 ? ""
                          : fmt::format(", groups: {}, top_groups: {}",
                                        routing.groups, routing.top_groups);
  const std::string bytes =
      routing.combine_bytes == 0
          ? ""
          : fmt::format(", dispatch_bytes: {}, combine_bytes: {}",
                        routing.dispatch_bytes, routing.combine_bytes);
  return fmt::format("routing: {{experts: {}, top_k: {}{}{}}}\n",
                     routing.experts, routing.top_k, groups, bytes);
}

}  // namespace

bool IsProgram(std::string_view contents) {
  constexpr std::string_view kBlank = " \t\r\n";
  // Beginnings of YAML that no name of a SimAI policy has.
  constexpr std::string_view kStarts[] = {"---", "%YAML", "{",
                                          "\"simai_program\""};
  for (const std::string_view start : kStarts) {
    if (contents.substr(0, start.size()) == start) return true;
  }
  while (true) {
    const size_t start = contents.find_first_not_of(kBlank);
    if (start == std::string_view::npos) return false;
    contents.remove_prefix(start);
    if (contents.front() != '#') break;
    contents.remove_prefix(std::min(contents.find('\n'), contents.size()));
  }
  if (contents.substr(0, kMark.size()) != kMark) return false;
  const size_t next = contents.find_first_not_of(kBlank, kMark.size());
  return next != std::string_view::npos && contents[next] == ':';
}

absl::StatusOr<Program> ParseProgram(std::string_view file,
                                     std::string_view contents) {
  return Parser(file, contents).Parse();
}

absl::StatusOr<Program> ReadProgram(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseProgram(path, contents);
}

std::string FormatProgram(const Program& program) {
  std::string text = fmt::format("{}: {}\n", kMark, kVersion);
  text += FormatSizes(program.sizes());
  AppendFormat(&text, "phase: {}\n",
               kPhaseNames[program.forward_only() ? 1 : 0]);
  if (program.sizes().pipeline > 1) {
    AppendFormat(&text, "schedule: {}\n", Name(program.schedule()));
  }
  if (program.gpu() != ProgramGpu()) {
    const auto& [memory, peak_tflops, slowdown, name] = program.gpu();
    AppendFormat(
        &text,
        "gpu: {{{}memory: {}, peak_tflops: {}, communication_slowdown: {}}}\n",
        name.empty() ? "" : fmt::format("name: {}, ", FormatName(name)),
        memory.count(), peak_tflops, slowdown);
  }
  if (program.work() != ProgramWork()) {
    AppendFormat(&text, "work: {{tokens: {}, model_flops: {}}}\n",
                 program.work().tokens, program.work().model_flops);
  }
  if (program.routing()) text += FormatRouting(*program.routing());
  if (program.pipeline_message() > Bytes(0)) {
    AppendFormat(&text, "pipeline_message: {}\n",
                 program.pipeline_message().count());
  }
  text += "modules:\n";
  for (const ProgramModule& module : program.modules()) {
    text += FormatModule(module);
  }
  text += "stages:\n";
  for (const ProgramStage& stage : program.stages()) {
    const auto names = [&](absl::Span<const ModuleId> ids) {
      return FormatNames(program, ids);
    };
    AppendFormat(&text, "  - count: {}\n    run:\n", stage.count);
    for (const ModuleRun& run : stage.runs) {
      const std::string times =
          run.times == 1 ? "" : fmt::format("times: {}, ", run.times);
      const std::string chunk =
          run.chunk == 0 ? "" : fmt::format("chunk: {}, ", run.chunk);
      AppendFormat(&text, "      - {{{}{}modules: {}}}\n", times, chunk,
                   names(run.modules));
    }
    if (!stage.after.empty()) {
      AppendFormat(&text, "    after: {}\n", names(stage.after));
    }
  }
  return text;
}

}  // namespace astra
