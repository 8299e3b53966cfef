#include "astra-core/apps/plan/plan_report.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/plan/launch_files.h"
#include "astra-core/apps/plan/layout_cells.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/units.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

void AppendCounts(const SimaiPlannerOptions& options,
                  const SearchResult& search, const PlanRuns& runs,
                  std::string* page) {
  const auto line = [page](int64_t count, std::string_view what) {
    if (count > 0) AppendFormat(page, "{:>12} {}\n", count, what);
  };
  int64_t illegal = 0;
  for (const auto& [rule, count] : search.illegal) illegal += count;
  line(options.space.size(), "candidates");
  line(illegal, "break a rule of the layout (plan.json has them by rule)");
  line(search.beyond_memory, "do not fit into the memory");
  line(search.beyond_bound,
       "have a lower bound above the best, or are illegal");
  line(search.estimated, "were estimated");
  line(static_cast<int64_t>(runs.plans.size()), "were run as whole iterations");
  line(runs.beyond_memory, "of the best estimates do not fit with workspaces");
}

// Says whether the first plans are in another order with the closer fidelity.
void AppendOrder(const std::vector<Plan>& plans, std::string* page) {
  double before = 0;
  bool is_same = true;
  bool has_any = false;
  for (const Plan& plan : plans) {
    if (!plan.closer_seconds) break;
    has_any = true;
    is_same &= *plan.closer_seconds >= before;
    before = *plan.closer_seconds;
  }
  if (!has_any) return;
  *page += is_same ? "the simulated network keeps their order\n"
                   : "the simulated network changes their order\n";
}

Json PlanJsonOf(const PlanJob& job, const Plan& plan) {
  Json terms;
  for (size_t i = 0; i < kNumPlanTerms; ++i) {
    terms[std::string(kPlanTermNames[i])] = plan.terms[i];
  }
  Json json = {{"layout", LayoutJson(job, plan.estimate.layout)},
               {"estimate_s", plan.estimate.seconds},
               {"iteration_s", plan.seconds},
               {"tokens_per_s", plan.tokens_per_second},
               {"mfu", plan.utilisation},
               {"allocated_bytes", plan.allocated.count()},
               {"reserved_bytes", plan.reserved.count()},
               {"fullest_stage", plan.fullest_stage},
               {"at_the_peak", plan.peak},
               {"terms_s", std::move(terms)},
               {"is_pareto_optimal", plan.is_efficient}};
  if (plan.closer_seconds) json["simulated_s"] = *plan.closer_seconds;
  return json;
}

// Returns a command over several lines.
std::string Command(std::string_view program,
                    const std::vector<std::string>& words) {
  return fmt::format("{} {}\n", program, fmt::join(words, " \\\n  "));
}

std::vector<std::string> Joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string CommandsText(const SimaiPlannerOptions& options, const Plan& plan) {
  const std::vector<std::string> workload =
      Joined(Joined(options.workload_words,
                    OptionsOf(options.job, plan.estimate.layout)),
             {"--format=program", "--output=workload.yaml"});
  std::vector<std::string> run_words = options.run_words;
  if (plan.estimate.layout.expert == 1) {
    std::erase_if(run_words, [](const std::string& word) {
      return word.starts_with("--dispatcher=");
    });
  }
  const auto run = [&](const std::vector<std::string>& more) {
    return Joined(Joined({"--workload=workload.yaml"}, run_words), more);
  };
  return "# The same iteration by formula, by flows and by packets.\nset -e\n" +
         Command("gen_workload", workload) +
         Command("simai_analytical", run({"--output=closed-form"})) +
         Command("simai_simulator",
                 run({"--fidelity=flow", "--symmetry", "--output=flow"})) +
         Command("simai_simulator",
                 run({"--fidelity=packet", "--output=packet"}));
}

}  // namespace

std::string PlanTitle(const SimaiPlannerOptions& options) {
  return fmt::format("{} on {} {}, {}", options.job.model.name,
                     options.job.num_gpus(), options.job.gpu.name,
                     options.run.cluster_name() == "--system"
                         ? options.run.system.value_or("")
                         : options.run.cluster_name());
}

std::string DescribeDifferences(const Plan& plan, const Plan& best) {
  constexpr size_t kShown = 3;
  constexpr double kSmall = 0.002;  // Of the iteration.
  std::vector<std::pair<double, size_t>> terms;
  for (size_t i = 0; i < kNumPlanTerms; ++i) {
    terms.emplace_back(plan.terms[i] - best.terms[i], i);
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [](const auto& a, const auto& b) {
                     return std::abs(a.first) > std::abs(b.first);
                   });
  const bool is_as_fast =
      std::abs(plan.seconds - best.seconds) < kSmall * best.seconds;
  std::string text;
  for (size_t i = 0; i < kShown; ++i) {
    const auto& [seconds, term] = terms[i];
    const bool is_small = std::abs(seconds) < kSmall * best.seconds;
    // Small differences that add up are named by the largest.
    if (is_small && (i > 0 || is_as_fast)) break;
    AppendFormat(&text, "{}{} {:+.3f} s", text.empty() ? "" : ", ",
                 kPlanTermNames[term], seconds);
  }
  return text.empty() ? "as fast" : text;
}

std::string DescribePlans(const SimaiPlannerOptions& options,
                          const SearchResult& search, const PlanRuns& runs) {
  std::string page = PlanTitle(options) + "\n";
  AppendCounts(options, search, runs, &page);
  if (runs.plans.empty()) return page;
  const bool is_closer = runs.plans.front().closer_seconds.has_value();
  AppendFormat(&page, "\n{:>3} {:>11} {:>11} {}{:>10} {:>6} {:>9} {:>9}  {}\n",
               "", "estimate s", "iteration s",
               is_closer ? fmt::format("{:>11} ", "simulated s") : "",
               "tokens/s", "MFU", "allocated", "reserved", "layout");
  const size_t shown = std::min(options.shown, runs.plans.size());
  for (size_t i = 0; i < shown; ++i) {
    const Plan& plan = runs.plans[i];
    std::string closer;
    if (is_closer) {
      closer = plan.closer_seconds
                   ? fmt::format("{:>11.4f} ", *plan.closer_seconds)
                   : fmt::format("{:>11} ", "-");
    }
    AppendFormat(&page,
                 "{:>3} {:>11.4f} {:>11.4f} {}{:>10.0f} {:>5.1f}% {:>9.2f} "
                 "{:>9.2f}  {}{}\n",
                 i + 1, plan.estimate.seconds, plan.seconds, closer,
                 plan.tokens_per_second, 100 * plan.utilisation,
                 ToGib(plan.allocated), ToGib(plan.reserved),
                 DescribeLayout(options.job, plan.estimate.layout),
                 plan.is_efficient ? " *" : "");
  }
  page +=
      "memory in GiB of the fullest stage; *: no plan is faster and takes "
      "less memory\n";
  AppendOrder(runs.plans, &page);
  page += "\nwhy the others are slower than the first\n";
  for (size_t i = 1; i < shown; ++i) {
    AppendFormat(&page, "{:>3} {:>+11.4f} s: {}\n", i + 1,
                 runs.plans[i].seconds - runs.plans.front().seconds,
                 DescribeDifferences(runs.plans[i], runs.plans.front()));
  }
  return page;
}

std::string PlansCsv(const SimaiPlannerOptions& options,
                     const std::vector<Plan>& plans) {
  std::string csv =
      "rank," + LayoutColumns() +
      ",estimate_s,iteration_s,simulated_s,tokens_per_s,mfu_pct,allocated_gib,"
      "reserved_gib,fullest_stage,at_the_peak,compute_s,slowed_s,exposed_tp_s,"
      "exposed_cp_s,exposed_ep_s,exposed_dp_s,pp_messages_s,bubble_s,"
      "is_pareto_optimal\n";
  for (size_t i = 0; i < plans.size(); ++i) {
    const Plan& plan = plans[i];
    AppendFormat(
        &csv, "{},{},{:.6g},{:.6g},{},", i + 1,
        LayoutCells(options.job, plan.estimate.layout), plan.estimate.seconds,
        plan.seconds,
        plan.closer_seconds ? fmt::format("{:.6g}", *plan.closer_seconds) : "");
    AppendFormat(&csv, "{:.6g},{:.2f},{:.3f},{:.3f},{},\"{}\"",
                 plan.tokens_per_second, 100 * plan.utilisation,
                 ToGib(plan.allocated), ToGib(plan.reserved),
                 plan.fullest_stage, plan.peak);
    for (const double term : plan.terms) AppendFormat(&csv, ",{:.6g}", term);
    AppendFormat(&csv, ",{}\n", plan.is_efficient);
  }
  return csv;
}

std::string PlanJson(const SimaiPlannerOptions& options,
                     const SearchResult& search, const PlanRuns& runs) {
  Json illegal = Json::object();
  for (const auto& [rule, count] : search.illegal) illegal[rule] = count;
  Json plans = Json::array();
  for (const Plan& plan : runs.plans) {
    plans.push_back(PlanJsonOf(options.job, plan));
  }
  return JsonText({{"model", options.job.model.name},
                   {"gpu", options.job.gpu.name},
                   {"gpus", options.job.num_gpus()},
                   {"global_batch", options.job.setups[0].global_batch},
                   {"seq_length", options.job.setups[0].positions},
                   {"candidates", options.space.size()},
                   {"illegal", std::move(illegal)},
                   {"beyond_memory", search.beyond_memory},
                   {"beyond_bound", search.beyond_bound},
                   {"estimated", search.estimated},
                   {"whole_iterations_beyond_memory", runs.beyond_memory},
                   {"plans", std::move(plans)}});
}

std::string PlannerRunJson(const SimaiPlannerOptions& options,
                           const std::vector<Plan>& plans) {
  const bool fits = !plans.empty();
  Json result = {{"fits", fits}};
  Json memory = Json::object();
  if (fits) {
    const Plan& best = plans.front();
    result["iteration_ps"] = std::llround(best.seconds * kPsPerSecond);
    result["tokens_per_s"] = best.tokens_per_second;
    result["tokens_per_s_per_gpu"] =
        best.tokens_per_second / static_cast<double>(options.job.num_gpus());
    result["mfu"] = best.utilisation;
    memory = {{"allocated_memory_gib", ToGib(best.allocated)},
              {"reserved_memory_gib", ToGib(best.reserved)}};
  }
  Json json = {{"program", "simai_planner"}, {"result", std::move(result)}};
  if (fits) {
    json["layout"] = LayoutJson(options.job, plans.front().estimate.layout);
    json["memory"] = std::move(memory);
  }
  return JsonText(json);
}

std::vector<NamedFile> PlanFiles(const SimaiPlannerOptions& options,
                                 const Plan& plan) {
  std::vector<NamedFile> files = LaunchFiles(options, plan.estimate.layout);
  files.insert(files.begin(), {"commands.sh", CommandsText(options, plan)});
  return files;
}

}  // namespace astra
