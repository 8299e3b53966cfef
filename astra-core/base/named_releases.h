// Finds a release of what a file describes by release, such as a framework or
// an engine of inference:
//
//   const auto bundled = ParseBundledReleases<Engine>(EmbeddedEngines(),
//   Parse); ASTRA_ASSIGN_OR_RETURN(Engine engine,
//                          LoadRelease<Engine>("engine", "vllm@0.14", bundled,
//                                              Parse));
//
// T has the members `name` and `release`, and may have `aliases`. Parse(file,
// contents) returns its releases, the oldest first and at least one.

#ifndef ASTRA_CORE_BASE_NAMED_RELEASES_H_
#define ASTRA_CORE_BASE_NAMED_RELEASES_H_

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/bundled.h"
#include "astra-core/base/embedded_file.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/release.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_path.h"
#include "fmt/core.h"

namespace astra {

// The releases of one name, the oldest first.
template <class T>
struct NamedReleases {
  std::string name;
  std::vector<T> releases;
};

// Returns the releases that `files` describe, sorted by name. A bundled file
// that is wrong is a mistake of ours and ends the program.
template <class T, class Parse>
std::vector<NamedReleases<T>> ParseBundledReleases(
    absl::Span<const EmbeddedFile> files, Parse parse) {
  return ParseBundled<NamedReleases<T>>(
      files,
      [parse](std::string_view file,
              std::string_view contents) -> absl::StatusOr<NamedReleases<T>> {
        ASTRA_ASSIGN_OR_RETURN(std::vector<T> releases, parse(file, contents));
        std::string name = releases.front().name;
        return NamedReleases<T>{std::move(name), std::move(releases)};
      });
}

template <class T>
std::vector<std::string_view> NamesOf(
    absl::Span<const NamedReleases<T>> bundled) {
  std::vector<std::string_view> names;
  for (const NamedReleases<T>& one : bundled) names.push_back(one.name);
  return names;
}

// Returns all releases of the bundled name or alias `name`, or of the file of
// that path. Errors: as for LoadRelease.
template <class T, class Parse>
absl::StatusOr<std::vector<T>> LoadReleases(
    std::string_view what, std::string_view name,
    absl::Span<const NamedReleases<T>> bundled, Parse parse) {
  if (IsYamlPath(name)) {
    const std::string path(name);
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
    return parse(path, contents);
  }
  std::vector<std::string_view> all_aliases;
  for (const NamedReleases<T>& one : bundled) {
    std::vector<std::string> aliases;
    if constexpr (requires(const T& t) { t.aliases; }) {
      const std::vector<std::string>& stated = one.releases.front().aliases;
      aliases = stated;
      all_aliases.insert(all_aliases.end(), stated.begin(), stated.end());
    }
    if (IsNamed(name, one.name, aliases)) return one.releases;
  }
  return absl::NotFoundError(
      UnknownName(what, name, NamesOf<T>(bundled), all_aliases));
}

// Finds "NAME" or "NAME@RELEASE" among `bundled`, or in a file: text with a
// "/", or that ends in .yaml or .yml before the "@". Without a release it is
// the newest one; a release holds until the next one. `what` names the kind of
// thing in errors.
//
// Errors: those of ReadFile and `parse`; NotFound for an unknown name;
// InvalidArgument for a release before the first, for text that is no release,
// and for a release of what has none.
template <class T, class Parse>
absl::StatusOr<T> LoadRelease(std::string_view what, std::string_view text,
                              absl::Span<const NamedReleases<T>> bundled,
                              Parse parse) {
  const size_t at = text.rfind('@');
  ASTRA_ASSIGN_OR_RETURN(
      const std::vector<T> releases,
      LoadReleases<T>(what, text.substr(0, at), bundled, parse));
  if (at == std::string_view::npos) return releases.back();
  const T& first = releases.front();
  if (first.release.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: no releases of {} are told apart", text, first.name));
  }
  const Release release = ReleaseOf(text.substr(at + 1));
  const auto after = std::find_if(
      releases.begin(), releases.end(),
      [&](const T& one) { return ReleaseOf(one.release) > release; });
  if (release.empty() || after == releases.begin()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected a release of {} from {} on, such as {}@{}", text,
        first.name, first.release, first.name, releases.back().release));
  }
  return *std::prev(after);
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_NAMED_RELEASES_H_
