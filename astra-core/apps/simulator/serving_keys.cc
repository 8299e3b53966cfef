#include "astra-core/apps/simulator/serving_keys.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_path.h"
#include "astra-core/command_line/command_line.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Options of simai_serving that are no keys.
constexpr std::string_view kNoKeys[] = {
    "topology",      "system",          "fidelity", "network",
    "beside",        "capacity",        "plan",     "gpus",
    "pools",         "slo-share",       "top",      "exhaustive",
    "compare-table", "output",          "result",   "curves",
    "threads",       "beside-first-gpu"};

bool IsKey(const OptionSpec& option) {
  return std::find(std::begin(kNoKeys), std::end(kNoKeys), option.name) ==
         std::end(kNoKeys);
}

absl::Status At(const std::string& place, std::string_view text) {
  return absl::InvalidArgumentError(fmt::format("{}: {}", place, text));
}

// Returns the option that a key names; null if there is none.
const OptionSpec* OptionOf(const ServingKey& key) {
  const absl::Span<const OptionSpec> options = SimaiServingOptionSpecs();
  const auto* const found = std::find_if(
      options.begin(), options.end(),
      [&](const OptionSpec& option) { return option.name == key.name; });
  return found == options.end() ? nullptr : found;
}

// Returns whether the text of a key is the path of a file.
bool IsFile(const ServingKey& key, const OptionSpec& option) {
  if (option.value == "FILE") return true;
  return option.value.find("FILE") != std::string_view::npos &&
         (IsYamlPath(key.text) || key.text.ends_with(".json"));
}

// Appends the arguments that a key stands for.
absl::Status AppendArguments(const ServingKey& key,
                             const std::string& jobs_file,
                             std::vector<std::string>* arguments) {
  const OptionSpec* const option = OptionOf(key);
  if (option == nullptr) {
    std::vector<std::string_view> known;
    for (const OptionSpec& each : SimaiServingOptionSpecs()) {
      if (IsKey(each)) known.push_back(each.name);
    }
    return At(key.place, UnknownName("key of serving", key.name, known));
  }
  if (!IsKey(*option)) {
    return At(key.place, fmt::format("{} is no key of a job: simai_simulator "
                                     "and the file of jobs say it",
                                     key.name));
  }
  if (!option->value.empty()) {
    arguments->push_back(fmt::format(
        "--{}={}", key.name,
        IsFile(key, *option) ? BesideFile(jobs_file, key.text) : key.text));
  } else if (key.text == "true") {
    arguments->push_back("--" + key.name);
  } else if (key.text != "false") {
    return At(key.place, fmt::format("{} is {}: expected true or false",
                                     key.name, Quoted(key.text)));
  }
  return absl::OkStatus();
}

// Returns where `text` names the option: "--isl" names --isl and not --is.
size_t PlaceOfOption(std::string_view text, std::string_view option) {
  const std::string dashed = fmt::format("--{}", option);
  size_t at = text.find(dashed);
  for (; at != std::string_view::npos; at = text.find(dashed, at + 1)) {
    const size_t end = at + dashed.size();
    if (end == text.size()) break;
    const auto next = static_cast<unsigned char>(text[end]);
    if (std::isalnum(next) == 0 && next != '-') break;
  }
  return at;
}

// Returns where `text` is about a key: where it names its option, what it says
// or the file that it names.
size_t PlaceOfKey(std::string_view text, const ServingKey& key) {
  size_t at =
      std::min(PlaceOfOption(text, key.name), text.find(Quoted(key.text)));
  const OptionSpec* const option = OptionOf(key);
  if (option != nullptr && IsFile(key, *option)) {
    at = std::min(at, text.find(key.text + ":"));
  }
  return at;
}

// Returns `text` without the dashes of options.
std::string WithoutDashes(std::string_view text) {
  std::string without;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
    if (begins && text.substr(i).starts_with("--"))
      ++i;
    else
      without += text[i];
  }
  return without;
}

}  // namespace

absl::Status AtKey(const JobSpec& spec, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string text(status.message());
  std::string place = spec.place;
  size_t first = std::string::npos;
  for (const ServingKey& key : spec.serving) {
    const size_t at = PlaceOfKey(text, key);
    if (at >= first) continue;
    first = at;
    place = key.place;
  }
  return absl::Status(
      status.code(),
      fmt::format("{}: job {}: {}", place, spec.name, WithoutDashes(text)));
}

absl::StatusOr<SimaiServingOptions> ReadServingKeys(const JobSpec& spec,
                                                    const RunOptions& options) {
  std::vector<std::string> arguments = {
      "simai_serving", "--topology=" + *options.topology_file,
      fmt::format("--fidelity={}", Name(options.fidelity)),
      "--result=" + spec.name,
      fmt::format("--output={}/{}", options.output, spec.name)};
  if (options.system) arguments.push_back("--system=" + *options.system);
  for (const ServingKey& key : spec.serving) {
    ASTRA_RETURN_IF_ERROR(AppendArguments(key, *options.jobs_file, &arguments));
  }
  std::vector<const char*> argv;
  argv.reserve(arguments.size());
  for (const std::string& argument : arguments) {
    argv.push_back(argument.c_str());
  }
  const absl::StatusOr<CommandLine> flags = CommandLine::Parse(
      SimaiServingOptionSpecs(), static_cast<int>(argv.size()), argv.data());
  if (!flags.ok()) return AtKey(spec, flags.status());
  absl::StatusOr<SimaiServingOptions> serving = ReadSimaiServingOptions(*flags);
  if (!serving.ok()) return AtKey(spec, serving.status());
  if (serving->points.size() > 1) {
    return AtKey(spec, absl::InvalidArgumentError(fmt::format(
                           "--{} is a list: expected one load of a job",
                           flags->has("rate") ? "rate" : "concurrency")));
  }
  const absl::Status trace = ReadTrace(*serving);
  if (!trace.ok()) return AtKey(spec, trace);
  return serving;
}

}  // namespace astra
