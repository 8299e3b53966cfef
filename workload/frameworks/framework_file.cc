#include "workload/frameworks/framework_file.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/bundled.h"
#include "astra-core/base/embedded_file.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/release.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_path.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"

namespace astra {

absl::Span<const EmbeddedFile> EmbeddedFrameworks();

namespace {

using Frameworks = std::vector<Framework>;

constexpr int64_t kMostZero = 3;
constexpr int64_t kMostWorkspace = 64;  // Bytes a parameter.
constexpr int64_t kMostDivisor = int64_t{1} << 24;
constexpr double kLeastSpeed = 0.01;
constexpr double kMostSpeed = 10;
constexpr std::array<std::string_view, 2> kFloatTypes = {"fp32", "bf16"};

struct Overlap {
  std::string_view name;
  bool Framework::*fact;
};
constexpr Overlap kOverlaps[] = {
    {"gradients", &Framework::overlaps_gradients},
    {"parameters", &Framework::overlaps_parameters},
    {"tp", &Framework::overlaps_tensor},
    {"shared_experts", &Framework::overlaps_shared_experts},
};

// Reads the list of what is hidden, which replaces that of `framework`.
void ReadOverlaps(YamlFields& fields, Framework& framework) {
  if (!fields.has("overlap")) return;
  for (const Overlap& overlap : kOverlaps) framework.*overlap.fact = false;
  std::vector<std::string_view> names;
  for (const Overlap& overlap : kOverlaps) names.push_back(overlap.name);
  for (const std::string& text : fields.Texts("overlap")) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) {
      fields.Error("overlap", UnknownName("overlap", text, names));
      return;
    }
    framework.*kOverlaps[found - names.begin()].fact = true;
  }
}

void ReadRecomputeModules(YamlFields& fields, Framework& framework) {
  if (!fields.has("recompute_modules")) return;
  const absl::StatusOr<RecomputeModules> modules =
      ParseRecomputeModules(fields.Texts("recompute_modules"));
  if (modules.ok()) {
    framework.recompute_modules = *modules;
  } else {
    fields.Error("recompute_modules", std::string(modules.status().message()));
  }
}

// Replaces what decides about the bytes of tensors.
void ReadMemoryFacts(YamlFields& fields, Framework& framework) {
  constexpr int64_t kMostLossBytes = 64;  // Bytes a logit.
  constexpr int64_t kLeastBits = 8;
  constexpr int64_t kMostBits = 16;
  ReadRecomputeModules(fields, framework);
  const size_t moments = framework.moment_bytes == 4 ? 0 : 1;
  framework.moment_bytes =
      fields.ChoiceOr("moment_dtype", moments, kFloatTypes) == 0 ? 4 : 2;
  framework.fp32_shards = fields.BoolOr("fp32_shards", framework.fp32_shards);
  framework.fp8_activation_inputs =
      fields.BoolOr("fp8_activation_inputs", framework.fp8_activation_inputs);
  if (fields.has("attention_output_bits")) {
    framework.attention_output_bits = fields.IntegerOr(
        "attention_output_bits", kMostBits, kLeastBits, kMostBits);
  }
  framework.loss_workspace = fields.IntegerOr(
      "loss_workspace", framework.loss_workspace, 0, kMostLossBytes);
}

// Replaces the facts of `framework` that the fields name.
void ReadFacts(YamlFields& fields, Framework& framework) {
  framework.zero = fields.IntegerOr("zero", framework.zero, 0, kMostZero);
  framework.fixed_zero = fields.BoolOr("fixed_zero", framework.fixed_zero);
  const size_t type = framework.gradient_bytes == 4 ? 0 : 1;
  framework.gradient_bytes =
      fields.ChoiceOr("grad_dtype", type, kFloatTypes) == 0 ? 4 : 2;
  framework.vocabulary_divisor = fields.IntegerOr(
      "vocabulary_divisor", framework.vocabulary_divisor, 0, kMostDivisor);
  framework.fills_last_stages =
      fields.BoolOr("fills_last_stages", framework.fills_last_stages);
  ReadOverlaps(fields, framework);
  framework.fp8_dispatch =
      fields.BoolOr("fp8_dispatch", framework.fp8_dispatch);
  framework.fused_loss = fields.BoolOr("fused_loss", framework.fused_loss);
  framework.attention_speed = fields.NumberOr(
      "attention_speed", framework.attention_speed, kLeastSpeed, kMostSpeed);
  framework.optimizer_workspace = fields.IntegerOr(
      "optimizer_workspace", framework.optimizer_workspace, 0, kMostWorkspace);
  framework.weights_in_experts =
      fields.BoolOr("weights_in_experts", framework.weights_in_experts);
  ReadMemoryFacts(fields, framework);
  if (!fields.has("transformer_engine")) return;
  framework.transformer_engine = fields.Text("transformer_engine");
  if (ReleaseOf(framework.transformer_engine).empty()) {
    fields.Error("transformer_engine",
                 fmt::format("transformer_engine is {}: expected a release "
                             "such as 2.11",
                             Quoted(framework.transformer_engine)));
  }
}

// Reads the releases, each of which begins with the facts of the one before.
Frameworks ReadReleases(YamlFields& fields, Framework framework) {
  Frameworks releases;
  for (YamlFields& release : fields.Maps("releases", "a release")) {
    framework.release = release.Text("since");
    const Release numbers = ReleaseOf(framework.release);
    release.Texts("source");
    ReadFacts(release, framework);
    release.Close();
    const bool ascends =
        releases.empty() || ReleaseOf(releases.back().release) < numbers;
    if (numbers.empty() || !ascends) {
      release.Error("since",
                    fmt::format("since is {}: expected a release such as 1.2, "
                                "later than the one before",
                                Quoted(framework.release)));
    }
    releases.push_back(framework);
  }
  if (releases.empty()) releases.push_back(std::move(framework));
  return releases;
}

absl::StatusOr<Frameworks> Parse(std::string_view file,
                                 std::string_view contents, bool may_have_base);

// Returns the newest release of the bundled framework `name`, as a base.
absl::StatusOr<Framework> FindBase(std::string_view name) {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : EmbeddedFrameworks()) {
    names.push_back(file.name.substr(0, file.name.rfind('.')));
    if (names.back() != name) continue;
    ASTRA_ASSIGN_OR_RETURN(Frameworks releases,
                           Parse(file.name, file.contents, false));
    return std::move(releases.back());
  }
  return absl::NotFoundError(UnknownName("framework", name, names));
}

absl::StatusOr<Frameworks> Parse(std::string_view file,
                                 std::string_view contents,
                                 bool may_have_base) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("a framework");
  Framework framework;
  if (fields.has("base")) {
    const std::string base = fields.Text("base");
    const absl::StatusOr<Framework> found =
        may_have_base ? FindBase(base)
                      : absl::InvalidArgumentError(
                            "a framework that is a base has none itself");
    if (found.ok()) framework = *found;
    if (!found.ok())
      fields.Error("base", std::string(found.status().message()));
  }
  framework.name = fields.Text("name");
  framework.aliases = fields.Texts("aliases");
  framework.release.clear();
  fields.Texts("source");
  ReadFacts(fields, framework);
  Frameworks releases = ReadReleases(fields, std::move(framework));
  fields.Close();
  ASTRA_RETURN_IF_ERROR(document.status());
  return releases;
}

// A bundled framework with its releases.
struct BundledFramework {
  std::string name;
  Frameworks releases;
};

const std::vector<BundledFramework>& Bundled() {
  static const auto& frameworks =
      *new std::vector<BundledFramework>(ParseBundled<BundledFramework>(
          EmbeddedFrameworks(),
          [](std::string_view file,
             std::string_view contents) -> absl::StatusOr<BundledFramework> {
            ASTRA_ASSIGN_OR_RETURN(Frameworks releases,
                                   ParseFramework(file, contents));
            std::string name = releases.front().name;
            return BundledFramework{std::move(name), std::move(releases)};
          }));
  return frameworks;
}

absl::StatusOr<Frameworks> LoadReleases(std::string_view name) {
  if (IsYamlPath(name)) {
    const std::string path(name);
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
    return ParseFramework(path, contents);
  }
  std::vector<std::string_view> aliases;
  for (const BundledFramework& framework : Bundled()) {
    const Framework& first = framework.releases.front();
    if (IsNamed(name, first.name, first.aliases)) return framework.releases;
    aliases.insert(aliases.end(), first.aliases.begin(), first.aliases.end());
  }
  return absl::NotFoundError(
      UnknownName("framework", name, FrameworkNames(), aliases));
}

}  // namespace

absl::StatusOr<std::vector<Framework>> ParseFramework(
    std::string_view file, std::string_view contents) {
  return Parse(file, contents, true);
}

absl::StatusOr<Framework> LoadFramework(std::string_view text) {
  const size_t at = text.rfind('@');
  ASTRA_ASSIGN_OR_RETURN(const Frameworks releases,
                         LoadReleases(text.substr(0, at)));
  if (at == std::string_view::npos) return releases.back();
  const Framework& first = releases.front();
  if (first.release.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: no releases of {} are told apart", text, first.name));
  }
  const Release release = ReleaseOf(text.substr(at + 1));
  const auto after = std::find_if(
      releases.begin(), releases.end(), [&](const Framework& framework) {
        return ReleaseOf(framework.release) > release;
      });
  if (release.empty() || after == releases.begin()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected a release of {} from {} on, such as {}@{}", text,
        first.name, first.release, first.name, releases.back().release));
  }
  return *std::prev(after);
}

std::vector<std::string_view> FrameworkNames() {
  std::vector<std::string_view> names;
  for (const BundledFramework& framework : Bundled()) {
    names.push_back(framework.name);
  }
  return names;
}

}  // namespace astra
