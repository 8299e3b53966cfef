#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/bundled.h"
#include "astra-core/base/embedded_file.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_path.h"
#include "astra-core/base/yaml_reader.h"
#include "collectives/dispatchers/dispatcher.h"
#include "fmt/core.h"

namespace astra {

absl::Span<const EmbeddedFile> EmbeddedDispatchers();

namespace {

constexpr double kMostTime = 1e6;
constexpr double kLeastEfficiency = 1e-3;
constexpr int64_t kMostSms = 1024;
constexpr std::array<std::string_view, 2> kCopies = {"rank", "expert"};

DispatchKernel ReadKernel(YamlFields fields) {
  DispatchKernel kernel;
  kernel.start_us = fields.Number("start_us", 0, kMostTime);
  kernel.start_us_per_KiB =
      fields.NumberOr("start_us_per_KiB", 0, 0, kMostTime);
  kernel.rank_us = fields.NumberOr("rank_us", 0, 0, kMostTime);
  kernel.token_ns = fields.NumberOr("token_ns", 0, 0, kMostTime);
  kernel.copy_ns = fields.NumberOr("copy_ns", 0, 0, kMostTime);
  kernel.byte_ns = fields.NumberOr("byte_ns", 0, 0, kMostTime);
  kernel.efficiency = fields.Number("efficiency", kLeastEfficiency, 1);
  fields.Close();
  return kernel;
}

DispatchPreparation ReadPreparation(YamlFields fields) {
  DispatchPreparation prepare;
  prepare.start_us = fields.Number("start_us", 0, kMostTime);
  prepare.rank_us = fields.NumberOr("rank_us", 0, 0, kMostTime);
  prepare.token_ns = fields.NumberOr("token_ns", 0, 0, kMostTime);
  fields.Close();
  return prepare;
}

const std::vector<Dispatcher>& Bundled() {
  static const auto& dispatchers = *new std::vector<Dispatcher>(
      ParseBundled<Dispatcher>(EmbeddedDispatchers(), ParseDispatcher));
  return dispatchers;
}

absl::StatusOr<Dispatcher> Find(std::string_view name) {
  if (IsYamlPath(name)) {
    const std::string path(name);
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
    return ParseDispatcher(path, contents);
  }
  for (const Dispatcher& dispatcher : Bundled()) {
    if (IsNamed(name, dispatcher.name, {})) return dispatcher;
  }
  return absl::NotFoundError(
      UnknownName("dispatcher", name, DispatcherNames()));
}

}  // namespace

absl::StatusOr<Dispatcher> ParseDispatcher(std::string_view file,
                                           std::string_view contents) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("a dispatcher");
  Dispatcher dispatcher;
  dispatcher.name = fields.Text("name");
  fields.Texts("source");
  fields.Text("origin");
  dispatcher.copies_by_expert = fields.Choice("copies", kCopies) == 1;
  dispatcher.relays = fields.Bool("relays");
  dispatcher.sms = static_cast<double>(fields.IntegerOr("sms", 1, 1, kMostSms));
  dispatcher.between_us = fields.NumberOr("between_us", 0, 0, kMostTime);
  dispatcher.notify_us = fields.NumberOr("notify_us", 0, 0, kMostTime);
  for (const std::string_view key : {"dispatch", "combine"}) {
    if (!fields.has(key)) fields.Error(key, fmt::format("no {}", key));
  }
  if (fields.has("prepare")) {
    dispatcher.prepare = ReadPreparation(fields.Map("prepare", "prepare"));
  }
  dispatcher.dispatch = ReadKernel(fields.Map("dispatch", "dispatch"));
  dispatcher.combine = ReadKernel(fields.Map("combine", "combine"));
  fields.Close();
  ASTRA_RETURN_IF_ERROR(document.status());
  return dispatcher;
}

absl::StatusOr<Dispatcher> LoadDispatcher(std::string_view text) {
  const size_t at = text.rfind('@');
  ASTRA_ASSIGN_OR_RETURN(Dispatcher dispatcher, Find(text.substr(0, at)));
  if (at == std::string_view::npos) return dispatcher;
  if (dispatcher.sms == 1) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: the number of SMs has no effect on {}", text, dispatcher.name));
  }
  ASTRA_ASSIGN_OR_RETURN(const int64_t sms,
                         ParseInteger(fmt::format("the SMs of {}", text),
                                      text.substr(at + 1), 1, kMostSms));
  dispatcher.sms = static_cast<double>(sms);
  return dispatcher;
}

std::vector<std::string_view> DispatcherNames() {
  std::vector<std::string_view> names;
  for (const Dispatcher& dispatcher : Bundled()) {
    names.push_back(dispatcher.name);
  }
  return names;
}

}  // namespace astra
