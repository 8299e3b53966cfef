// Any bytes are a table of measured points of serving, or an error of one line.
// Each row is answered in a line with as many columns, and no point is served,
// since that takes long.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/apps/serving/serving_compare.h"
#include "astra-core/base/check.h"
#include "astra-core/base/csv_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto done =
      astra::CompareServing("file", text, {.requests = 0, .output_tokens = 0});
  if (!done.ok()) {
    ASTRA_CHECK(done.status().message().find('\n') == absl::string_view::npos,
                "a message of several lines");
    return 0;
  }
  ASTRA_CHECK(done->predicted == 0, "{} points predicted", done->predicted);
  astra::CsvReader written("comparison.csv", done->csv);
  size_t rows = 0;
  while (written.NextRow()) ++rows;
  ASTRA_CHECK(written.status().ok(), "{}", written.status().ToString());
  ASTRA_CHECK(rows == done->rows, "{} of {} rows", rows, done->rows);
  return 0;
}
