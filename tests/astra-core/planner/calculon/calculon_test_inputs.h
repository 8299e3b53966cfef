// Calculon's example (inputs/calculon) with changes, for tests.

#ifndef TESTS_ASTRA_CORE_PLANNER_CALCULON_CALCULON_TEST_INPUTS_H_
#define TESTS_ASTRA_CORE_PLANNER_CALCULON_CALCULON_TEST_INPUTS_H_

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/planner/calculon/calculon_files.h"
#include "fmt/core.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra::testing {

// Keys of a file with other values, as the file has them without quotes.
using CalculonChanges = std::vector<std::pair<std::string, std::string>>;

inline std::string CalculonExample(std::string_view name) {
  return ReadText(SourcePath("inputs/calculon/" + std::string(name)));
}

// Returns `text` with other values of keys whose values are no lists.
inline std::string WithCalculonChanges(std::string text,
                                       const CalculonChanges& changes) {
  for (const auto& [key, value] : changes) {
    const std::regex old(fmt::format(R"re("{}": "?[^",\n]*"?(,?)\n)re", key));
    text = std::regex_replace(text, old,
                              fmt::format("\"{}\": \"{}\"$1\n", key, value));
  }
  return text;
}

struct CalculonTexts {
  std::string application = CalculonExample("megatron-1T.json");
  std::string execution = CalculonExample("3072_t4_p64_d12_mbs4_full.json");
  std::string system = CalculonExample("a100_80g.json");
};

inline absl::StatusOr<CalculonInputs> TryReadCalculon(
    const CalculonTexts& texts, Warnings* warnings) {
  return ReadCalculonInputs({"model", texts.application},
                            {"run", texts.execution}, {"machine", texts.system},
                            warnings);
}

// Returns the example with changes of its execution.
inline CalculonInputs CalculonInputsWith(const CalculonChanges& changes) {
  CalculonTexts texts;
  texts.execution = WithCalculonChanges(texts.execution, changes);
  Warnings warnings;
  return ValueOrDie(TryReadCalculon(texts, &warnings));
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_PLANNER_CALCULON_CALCULON_TEST_INPUTS_H_
