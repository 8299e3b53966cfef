// Predicts an iteration as the Python module does, for tests without Python.

#ifndef ASTRA_CORE_APPS_PYTHON_SIMULATE_TEXTS_H_
#define ASTRA_CORE_APPS_PYTHON_SIMULATE_TEXTS_H_

#include <string>

#include "absl/status/statusor.h"

namespace astra {

// The text of a JSON file, and what messages call it.
struct JsonText {
  std::string file;
  std::string contents;
};

// Predicts an iteration from the files of SimuMax. Returns SimumaxResultJson.
//
// Errors: those of reading the files, and of Simulate.
absl::StatusOr<std::string> SimulateTexts(const JsonText& model,
                                          const JsonText& strategy,
                                          const JsonText& system);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PYTHON_SIMULATE_TEXTS_H_
