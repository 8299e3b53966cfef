#include "astra-core/apps/fit/iteration_file.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kLeastSeconds = 1e-6;
constexpr double kMostSeconds = 1e6;
constexpr double kLeastSpread = 0.01;  // Percent.
constexpr double kMostSpread = 50;

struct Option {
  std::string name;
  std::string value;
};
using Options = std::vector<Option>;

// Reads the options of a program over those of `shared`.
Options ReadOptions(YamlFields& fields, std::string_view program,
                    Options options) {
  YamlFields given =
      fields.Map(program, fmt::format("the options of {}", program));
  for (const std::string& key : given.keys()) {
    const std::string value = given.Text(key);
    const auto same =
        std::find_if(options.begin(), options.end(),
                     [&](const Option& option) { return option.name == key; });
    if (same != options.end()) {
      same->value = value;
    } else {
      options.push_back({key, value});
    }
  }
  given.Close();
  return options;
}

std::vector<std::string> WordsOf(const Options& options) {
  std::vector<std::string> words;
  for (const Option& option : options) {
    words.push_back("--" + option.name);
    if (option.value != "true") words.back() += "=" + option.value;
  }
  return words;
}

bool IsSimpleName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ||
           c == '_';
  });
}

}  // namespace

absl::StatusOr<IterationFile> ParseIterations(std::string_view file,
                                              std::string_view contents) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("measured iterations");
  IterationFile result;
  result.name = fields.Text("name");
  if (!IsSimpleName(result.name)) {
    fields.Error("name", fmt::format("name is {}: expected letters, digits, "
                                     "\"-\" and \"_\"",
                                     Quoted(result.name)));
  }
  const Options workload = ReadOptions(fields, "gen_workload", {});
  const Options run = ReadOptions(fields, "simai_analytical", {});
  for (YamlFields& one : fields.Maps("iterations", "an iteration")) {
    MeasuredIteration iteration;
    iteration.seconds = one.Number("seconds", kLeastSeconds, kMostSeconds);
    iteration.spread_pct = one.NumberOr("spread_pct", iteration.spread_pct,
                                        kLeastSpread, kMostSpread);
    iteration.trace = one.TextOr("trace", "");
    iteration.gen_workload =
        WordsOf(ReadOptions(one, "gen_workload", workload));
    iteration.simai_analytical =
        WordsOf(ReadOptions(one, "simai_analytical", run));
    if (const YamlValue* seconds = one.Value("seconds")) {
      iteration.place =
          fmt::format("{}:{}:{}", file, seconds->line, seconds->column);
    }
    one.Close();
    result.iterations.push_back(std::move(iteration));
  }
  if (result.iterations.empty()) {
    fields.Error("iterations", "expected at least one measured iteration");
  }
  fields.Close();
  ASTRA_RETURN_IF_ERROR(document.status());
  return result;
}

}  // namespace astra
