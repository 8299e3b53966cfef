// Any bytes are a sweep or an error of one line, and so is what it expands to;
// the same bytes are an expression, or an error, that computes the same twice.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "astra-core/sweep/point_commands.h"
#include "astra-core/sweep/sweep_file.h"
#include "tests/astra-core/sweep/made_up_programs.h"

namespace astra {
namespace {

constexpr size_t kFewCombinations = 1000;

void CheckMessage(const absl::Status& status) {
  const std::string message(status.message());
  ASTRA_CHECK(!message.empty() && IsPlain(message),
              "a message of several "
              "lines");
}

void CheckExpression(std::string_view text) {
  const SweepVariables variables = {
      {"a", "8"}, {"b", "0.10"}, {"c", "true"}, {"d", "400Gbps"}};
  const absl::StatusOr<Expression> expression = Expression::Parse(text);
  if (!expression.ok()) return CheckMessage(expression.status());
  const absl::StatusOr<SweepValue> value = expression->Evaluate(variables);
  if (!value.ok()) return CheckMessage(value.status());
  const bool is_text = std::holds_alternative<std::string>(*value);
  ASTRA_CHECK(is_text || ValueOf(TextOf(*value)) == *value,
              "read back as another: {}", TextOf(*value));
}

void CheckPattern(std::string_view text) {
  const absl::StatusOr<TextPattern> pattern = TextPattern::Parse(text);
  if (!pattern.ok()) return CheckMessage(pattern.status());
  const absl::StatusOr<std::string> filled = pattern->Fill({{"a", "8"}});
  if (!filled.ok()) return CheckMessage(filled.status());
  ASTRA_CHECK(filled->size() <= TextPattern::kMaxBytes, "too long a text");
}

void CheckSweep(std::string_view contents) {
  const absl::StatusOr<Sweep> sweep =
      ReadSweep("sweep.yaml", contents, "/nowhere", testing::kMadePrograms);
  if (!sweep.ok()) return CheckMessage(sweep.status());
  size_t combinations = 1;
  for (const SweepAxis& axis : sweep->axes) {
    combinations *= axis.steps.size();
    if (combinations > kFewCombinations) return;
  }
  const absl::StatusOr<SweepPoints> points = ExpandSweep(*sweep);
  if (!points.ok()) return CheckMessage(points.status());
  ASTRA_CHECK(points->points.size() + points->skipped.size() == combinations,
              "a combination is lost");
  for (const SweepPoint& point : points->points) {
    ASTRA_CHECK(point.variables.size() == points->variables.size(),
                "a variable is lost");
  }
  // The programs are not there, so no point can be prepared to its end.
  FileHashes hashes;
  const absl::StatusOr<std::vector<PreparedPoint>> prepared =
      PreparePoints(*sweep, *points, "/nowhere", hashes);
  ASTRA_CHECK(!prepared.ok(), "prepared without programs");
  CheckMessage(prepared.status());
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  astra::CheckExpression(text);
  astra::CheckPattern(text);
  astra::CheckSweep(text);
  return 0;
}
