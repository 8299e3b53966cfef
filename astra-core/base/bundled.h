// Parses the input files of one folder that are compiled into a library.

#ifndef ASTRA_CORE_BASE_BUNDLED_H_
#define ASTRA_CORE_BASE_BUNDLED_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/embedded_file.h"

namespace astra {

// Applies parse(name, contents), which returns a StatusOr<T>, to each of
// `files`, and returns the results sorted by their member `name`. A bundled
// file that is wrong is a mistake of ours and ends the program.
template <class T, class Parse>
std::vector<T> ParseBundled(absl::Span<const EmbeddedFile> files, Parse parse) {
  std::vector<T> all;
  for (const EmbeddedFile& file : files) {
    auto one = parse(file.name, file.contents);
    ASTRA_CHECK(one.ok(), "{}", one.status().ToString());
    all.push_back(*std::move(one));
  }
  std::sort(all.begin(), all.end(),
            [](const T& a, const T& b) { return a.name < b.name; });
  return all;
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_BUNDLED_H_
