#include "workload/frameworks/framework_file.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/embedded_file.h"
#include "astra-core/base/named_releases.h"
#include "astra-core/base/names.h"
#include "astra-core/base/release.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"

namespace astra {

absl::Span<const EmbeddedFile> EmbeddedFrameworks();

namespace {

using Frameworks = std::vector<Framework>;

constexpr int64_t kMostZero = 3;
constexpr int64_t kMostMetrics = 16;
constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kMostDivisor = int64_t{1} << 24;
constexpr std::array<std::string_view, 2> kFloatTypes = {"fp32", "bf16"};

// Reads the list of what is hidden, which replaces that of `framework`.
void ReadOverlaps(YamlFields& fields, Framework& framework) {
  if (!fields.has("overlap")) return;
  const absl::StatusOr<Overlaps> overlaps =
      ParseOverlaps(fields.Texts("overlap"));
  if (overlaps.ok()) {
    framework.overlaps = *overlaps;
  } else {
    fields.Error("overlap", std::string(overlaps.status().message()));
  }
}

// Reads microseconds as nanoseconds.
int64_t HostNsOr(YamlFields& fields, std::string_view key, int64_t otherwise) {
  return kNsPerUs * fields.IntegerOr(key, otherwise / kNsPerUs, 0, kMostHostUs);
}

// Replaces what decides about times of a whole job: how far its kernels slow
// down, and when the GPUs wait for the host.
void ReadPace(YamlFields& fields, Framework& framework) {
  framework.compiled = fields.BoolOr("compiled", framework.compiled);
  if (fields.has("load")) {
    framework.load = fields.NumberOr("load", 1, kLeastLoad, 1);
  }
  framework.iteration_host_ns =
      HostNsOr(fields, "iteration_us", framework.iteration_host_ns);
  framework.expert_host_ns =
      HostNsOr(fields, "expert_host_us", framework.expert_host_ns);
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
  framework.launcher = static_cast<Launcher>(fields.ChoiceOr(
      "launcher", static_cast<size_t>(framework.launcher), kLauncherNames));
  framework.zero = fields.IntegerOr("zero", framework.zero, 0, kMostZero);
  framework.fixed_zero = fields.BoolOr("fixed_zero", framework.fixed_zero);
  framework.stages_stay_whole =
      fields.BoolOr("stages_stay_whole", framework.stages_stay_whole);
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
  framework.loss_metrics =
      fields.IntegerOr("loss_metrics", framework.loss_metrics, 0, kMostMetrics);
  framework.stops_recomputing =
      fields.BoolOr("stops_recomputing", framework.stops_recomputing);
  framework.attention_speed =
      fields.NumberOr("attention_speed", framework.attention_speed,
                      kLeastAttentionSpeed, kMostAttentionSpeed);
  framework.optimizer_workspace =
      fields.IntegerOr("optimizer_workspace", framework.optimizer_workspace, 0,
                       kMostOptimizerWorkspace);
  framework.weights_in_experts =
      fields.BoolOr("weights_in_experts", framework.weights_in_experts);
  framework.fused_experts =
      fields.BoolOr("fused_experts", framework.fused_experts);
  ReadPace(fields, framework);
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

// `depth` is 0 for a file itself, 1 for its base, and so on.
absl::StatusOr<Frameworks> Parse(std::string_view file,
                                 std::string_view contents, int depth);

// Finds the bundled framework "NAME" or "NAME@RELEASE", as a base.
absl::StatusOr<Framework> FindBase(std::string_view text, int depth) {
  constexpr int kMostBases = 2;
  if (depth == kMostBases) {
    return absl::InvalidArgumentError("the base of a base has none itself");
  }
  std::vector<NamedReleases<Framework>> found;
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : EmbeddedFrameworks()) {
    names.push_back(file.name.substr(0, file.name.rfind('.')));
    if (names.back() != text.substr(0, text.rfind('@'))) continue;
    ASTRA_ASSIGN_OR_RETURN(Frameworks releases,
                           Parse(file.name, file.contents, depth + 1));
    found.push_back({std::string(names.back()), std::move(releases)});
  }
  if (found.empty()) {
    std::sort(names.begin(), names.end());
    return absl::NotFoundError(UnknownName("framework", text, names));
  }
  return LoadRelease<Framework>("framework", text, found, ParseFramework);
}

absl::StatusOr<Frameworks> Parse(std::string_view file,
                                 std::string_view contents, int depth) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("a framework");
  Framework framework;
  if (fields.has("base")) {
    const std::string base = fields.Text("base");
    const absl::StatusOr<Framework> found = FindBase(base, depth);
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

const std::vector<NamedReleases<Framework>>& Bundled() {
  static const auto& frameworks = *new std::vector<NamedReleases<Framework>>(
      ParseBundledReleases<Framework>(EmbeddedFrameworks(), ParseFramework));
  return frameworks;
}

}  // namespace

absl::StatusOr<std::vector<Framework>> ParseFramework(
    std::string_view file, std::string_view contents) {
  return Parse(file, contents, 0);
}

absl::StatusOr<Framework> LoadFramework(std::string_view text) {
  return LoadRelease<Framework>("framework", text, Bundled(), ParseFramework);
}

std::vector<std::string_view> FrameworkNames() {
  return NamesOf<Framework>(Bundled());
}

}  // namespace astra
