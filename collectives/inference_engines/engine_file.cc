#include "collectives/inference_engines/engine_file.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/embedded_file.h"
#include "astra-core/base/named_releases.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/release.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"

namespace astra {

absl::Span<const EmbeddedFile> EmbeddedInferenceEngines();

namespace {

constexpr double kMostTime = 1e6;
constexpr double kMostRate = 1e6;
constexpr double kLeastEfficiency = 1e-3;
constexpr int64_t kMostGpus = 1024;
constexpr int64_t kMostKiB = int64_t{1} << 30;
constexpr int64_t kMostTokens = int64_t{1} << 24;
constexpr size_t kMostGraphs = 4096;

// Lines of one table, of the links and GPUs (or kernel) that `Key` names, by
// the release since which each holds.
template <class Key, class Line>
class Lines {
 public:
  // Returns false if the same line was there before.
  bool Add(Key key, const Release& since, Line line) {
    return lines_[std::move(key)].emplace(since, std::move(line)).second;
  }

  // Calls use(key, line) for each line that holds in `release`.
  template <class Use>
  void ForEach(const Release& release, Use use) const {
    for (const auto& [key, by_release] : lines_) {
      const auto after = by_release.upper_bound(release);
      if (after != by_release.begin()) use(key, std::prev(after)->second);
    }
  }

 private:
  std::map<Key, std::map<Release, Line>> lines_;
};

using Limits = std::array<std::optional<int64_t>, kNumEngineAlgorithms>;

class EngineReader {
 public:
  EngineReader(std::string_view file, std::string_view contents)
      : document_(file, contents) {}

  absl::StatusOr<std::vector<InferenceEngine>> Read() {
    YamlFields fields = document_.Root("an inference engine");
    name_ = fields.Text("name");
    fields.Texts("source");
    fields.Text("origin");
    for (YamlFields& line : fields.Maps("kernels", "a kernel")) {
      ReadKernel(line);
    }
    for (YamlFields& line : fields.Maps("choices", "a choice")) {
      ReadChoice(line);
    }
    for (YamlFields& line : fields.Maps("eager", "an eager time")) {
      ReadEager(line);
    }
    for (YamlFields& line : fields.Maps("serving", "facts of serving")) {
      ReadServing(line);
    }
    for (YamlFields& line : fields.Maps("budgets", "a budget of a step")) {
      ReadBudget(line);
    }
    fields.Close();
    std::vector<InferenceEngine> engines;
    for (const auto& [release, text] : releases_) {
      engines.push_back(EngineOf(release, text, fields));
    }
    if (engines.empty()) fields.Error("choices", "an engine without choices");
    ASTRA_RETURN_IF_ERROR(document_.status());
    return engines;
  }

 private:
  Release ReadSince(YamlFields& line) {
    const std::string text = line.Text("since");
    Release release = ReleaseOf(text);
    if (release.empty()) {
      line.Error("since", fmt::format("\"{}\" is no release: expected a "
                                      "version such as 0.14",
                                      text));
    }
    releases_.emplace(release, text);
    return release;
  }

  static void Refuse(YamlFields& line) {
    line.Error("since", "the same line was there before");
  }

  void ReadKernel(YamlFields& line) {
    std::vector<std::string_view> names;
    names.reserve(kNumEngineAlgorithms);
    for (const EngineAlgorithm algorithm : kEngineAlgorithms) {
      names.push_back(FileName(algorithm));
    }
    const Release since = ReadSince(line);
    const std::string links = line.Text("links");
    EngineKernel kernel;
    kernel.algorithm =
        static_cast<EngineAlgorithm>(line.Choice("kernel", names));
    kernel.start_us = line.Number("start_us", 0, kMostTime);
    kernel.rank_us = line.Number("rank_us", 0, kMostTime);
    kernel.pass_us = line.NumberOr("pass_us", 0, 0, kMostTime);
    kernel.buffer_GBps = line.NumberOr("buffer_GBps", 0, 0, kMostRate);
    kernel.efficiency = line.Number("efficiency", kLeastEfficiency, 1);
    kernel.eager_us = line.NumberOr("eager_us", 0, 0, kMostTime);
    if (!kernels_.Add({links, kernel.algorithm}, since, kernel)) Refuse(line);
    line.Close();
  }

  void ReadChoice(YamlFields& line) {
    const Release since = ReadSince(line);
    const std::string links = line.Text("links");
    const auto gpus = static_cast<uint32_t>(line.Integer("gpus", 2, kMostGpus));
    Limits limits;
    int64_t last = 0;
    for (const EngineAlgorithm algorithm : kEngineAlgorithms) {
      const std::string_view key = FileName(algorithm);
      if (!line.has(key)) continue;
      const int64_t limit = line.Integer(key, 1, kMostKiB);
      if (limit <= last) {
        line.Error(key, fmt::format("{} KiB: expected more than the {} before",
                                    limit, last));
      }
      limits[static_cast<size_t>(algorithm)] = last = limit;
    }
    if (!choices_.Add({links, gpus}, since, limits)) Refuse(line);
    line.Close();
  }

  void ReadEager(YamlFields& line) {
    const Release since = ReadSince(line);
    const std::string links = line.Text("links");
    const double us = line.Number("us", 0, kMostTime);
    if (!eager_.Add(links, since, us)) Refuse(line);
    line.Close();
  }

  // Reads one entry of `graphs`: a number, or FIRST..LAST/STEP.
  static absl::Status AddGraphs(const std::string& text,
                                std::vector<int64_t>& graphs) {
    const size_t dots = text.find("..");
    const size_t slash = text.find('/');
    const auto integer = [](std::string_view part) {
      return ParseInteger("a CUDA graph", part, 1, kMostTokens);
    };
    ASTRA_ASSIGN_OR_RETURN(const int64_t first, integer(text.substr(0, dots)));
    int64_t last = first;
    int64_t step = 1;
    if (dots != std::string::npos) {
      const size_t end = slash == std::string::npos ? text.size() : slash;
      const size_t begin = dots + 2;
      if (end < begin) return absl::InvalidArgumentError(text);
      ASTRA_ASSIGN_OR_RETURN(last, integer(text.substr(begin, end - begin)));
      if (slash != std::string::npos) {
        ASTRA_ASSIGN_OR_RETURN(step, integer(text.substr(slash + 1)));
      }
    }
    for (int64_t size = first; size <= last && graphs.size() <= kMostGraphs;
         size += step) {
      graphs.push_back(size);
    }
    return absl::OkStatus();
  }

  static std::vector<int64_t> ReadGraphs(YamlFields& line) {
    std::vector<int64_t> graphs;
    for (const std::string& text : line.Texts("graphs")) {
      if (AddGraphs(text, graphs).ok()) continue;
      line.Error("graphs", fmt::format("{}: expected a number of positions, or "
                                       "FIRST..LAST/STEP",
                                       Quoted(text)));
    }
    const bool grows =
        std::is_sorted(graphs.begin(), graphs.end(), std::less_equal<>());
    if (!grows || graphs.size() > kMostGraphs) {
      line.Error("graphs", fmt::format("expected at most {} sizes that grow",
                                       kMostGraphs));
    }
    return graphs;
  }

  static MemoryReserve ReadReserve(YamlFields& line) {
    const auto mib = [&line](std::string_view key) {
      return line.NumberOr(key, 0, 0, kMostTime);
    };
    return {.base_mib = mib("reserve_MiB"),
            .token_mib = mib("reserve_token_MiB"),
            .graph_mib = mib("reserve_graph_MiB"),
            .gpu_mib = mib("reserve_gpu_MiB"),
            .least_mib = mib("reserve_least_MiB")};
  }

  void ReadServing(YamlFields& line) {
    const Release since = ReadSince(line);
    ServingFacts facts;
    facts.scheduler = line.Text("scheduler");
    facts.reserve = ReadReserve(line);
    facts.memory_share = facts.reserve == MemoryReserve()
                             ? line.Number("memory_share", kLeastEfficiency, 1)
                             : 0;
    facts.memory_of = static_cast<MemoryShareOf>(
        line.ChoiceOr("memory_of", 0, kMemoryShareNames));
    facts.fused = line.Texts("fused");
    facts.block_positions = line.Integer("block", 1, kMostTokens);
    facts.chunked_prefill = line.Bool("chunked_prefill");
    facts.overlapped_host = line.Bool("overlapped_host");
    facts.ranks_share_budget = line.BoolOr("ranks_share_budget", false);
    facts.ranks_are_gpus = line.BoolOr("ranks_are_gpus", false);
    facts.step_us = line.Number("step_us", 0, kMostTime);
    facts.sequence_us = line.Number("sequence_us", 0, kMostTime);
    facts.launch_us = line.Number("launch_us", 0, kMostTime);
    facts.request_us = line.Number("request_us", 0, kMostTime);
    facts.graphs = ReadGraphs(line);
    facts.mixed_graphs = line.Bool("mixed_graphs");
    if (!serving_.Add(0, since, std::move(facts))) Refuse(line);
    line.Close();
  }

  void ReadBudget(YamlFields& line) {
    const Release since = ReadSince(line);
    StepBudget budget;
    budget.memory_gib = line.Integer("memory_gib", 0, kMostTokens);
    budget.except = line.TextOr("except", "");
    budget.tokens = line.Integer("tokens", 1, kMostTokens);
    budget.sequences = line.Integer("sequences", 1, kMostTokens);
    if (!budgets_.Add(budget.memory_gib, since, budget)) Refuse(line);
    line.Close();
  }

  // Reads what a server does in `release`.
  ServingFacts ServingOf(const Release& release) const {
    ServingFacts facts;
    serving_.ForEach(release,
                     [&](int, const ServingFacts& found) { facts = found; });
    budgets_.ForEach(release, [&](int64_t, const StepBudget& budget) {
      facts.budgets.push_back(budget);
    });
    return facts;
  }

  InferenceEngine EngineOf(const Release& release, const std::string& text,
                           YamlFields& fields) const {
    std::map<std::string, EngineLinks> by_links;
    std::map<std::pair<std::string, EngineAlgorithm>, EngineKernel> kernels;
    kernels_.ForEach(release, [&](const auto& key, const EngineKernel& kernel) {
      kernels.emplace(key, kernel);
    });
    choices_.ForEach(release, [&](const auto& key, const Limits& limits) {
      for (const EngineAlgorithm algorithm : kEngineAlgorithms) {
        const auto limit = limits[static_cast<size_t>(algorithm)];
        if (!limit) continue;
        const auto kernel = kernels.find({key.first, algorithm});
        if (kernel == kernels.end()) {
          fields.Error("choices", fmt::format("{} on {} has no line in kernels",
                                              FileName(algorithm), key.first));
          continue;
        }
        by_links[key.first].choices.push_back(
            {key.second, KiB(*limit), kernel->second});
      }
    });
    eager_.ForEach(release, [&](const std::string& links, double us) {
      by_links[links].eager_us = us;
    });
    InferenceEngine engine = {.name = name_,
                              .release = text,
                              .links = {},
                              .serving = ServingOf(release)};
    for (auto& [links, entry] : by_links) {
      entry.links = links;
      engine.links.push_back(std::move(entry));
    }
    return engine;
  }

  YamlDocument document_;
  std::string name_;
  std::map<Release, std::string> releases_;  // Text of each release.
  Lines<std::pair<std::string, EngineAlgorithm>, EngineKernel> kernels_;
  Lines<std::pair<std::string, uint32_t>, Limits> choices_;
  Lines<std::string, double> eager_;
  Lines<int, ServingFacts> serving_;    // All of one key.
  Lines<int64_t, StepBudget> budgets_;  // By least memory.
};

const std::vector<NamedReleases<InferenceEngine>>& Bundled() {
  static const auto& engines = *new std::vector<NamedReleases<InferenceEngine>>(
      ParseBundledReleases<InferenceEngine>(EmbeddedInferenceEngines(),
                                            ParseInferenceEngine));
  return engines;
}

}  // namespace

absl::StatusOr<std::vector<InferenceEngine>> ParseInferenceEngine(
    std::string_view file, std::string_view contents) {
  return EngineReader(file, contents).Read();
}

absl::StatusOr<InferenceEngine> LoadInferenceEngine(std::string_view text) {
  return LoadRelease<InferenceEngine>("inference engine", text, Bundled(),
                                      ParseInferenceEngine);
}

absl::StatusOr<std::optional<InferenceEngine>> LoadEngineOrNone(
    std::string_view text) {
  if (text == "none") return std::nullopt;
  return LoadInferenceEngine(text);
}

std::vector<std::string_view> InferenceEngineNames() {
  return NamesOf<InferenceEngine>(Bundled());
}

}  // namespace astra
