// Reads and compares the numbers of a release, such as "0.14.1rc2".

#ifndef ASTRA_CORE_BASE_RELEASE_H_
#define ASTRA_CORE_BASE_RELEASE_H_

#include <string_view>
#include <vector>

namespace astra {

// The numbers of a release, which compare one after the other: 0.9 is before
// 0.14, and 1.2 before 1.2.1.
using Release = std::vector<int>;

// Returns the leading numbers of "1.2.0rc5" ({1, 2, 0}); none if the text does
// not begin with one.
Release ReleaseOf(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_RELEASE_H_
