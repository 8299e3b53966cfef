// Unpacks files of gzip.
//
// Source: RFC 1952; zlib does the work.

#ifndef WORKLOAD_TRACES_GZIP_H_
#define WORKLOAD_TRACES_GZIP_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace astra {

// Returns whether `contents` begin as a file of gzip does.
bool IsGzip(std::string_view contents);

// Returns what `contents`, of the file `file`, unpack to: the contents of all
// members, one after the other.
//
// Errors: InvalidArgument "FILE: ..." for data that are damaged or end early,
// and for more than `most_bytes` in the end.
absl::StatusOr<std::string> Gunzip(std::string_view file,
                                   std::string_view contents,
                                   int64_t most_bytes);

}  // namespace astra

#endif  // WORKLOAD_TRACES_GZIP_H_
