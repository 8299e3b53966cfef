// Finds models by the names that users type.

#ifndef WORKLOAD_MODELS_MODEL_LIBRARY_H_
#define WORKLOAD_MODELS_MODEL_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/embedded_file.h"
#include "astra-core/base/log.h"
#include "workload/models/model_spec.h"

namespace astra {

// Returns the files of inputs/models, which are compiled into the program.
absl::Span<const EmbeddedFile> BundledModels();

// Returns the names of the bundled models, without aliases, sorted.
std::vector<std::string> ModelNames();

// Reads the model in the file `path`: as a config.json of Hugging Face if its
// first character other than blanks is "{" and its name does not end in .yaml
// or .yml, and as YAML otherwise.
//
// Errors: those of ReadFile, ParseModel and ParseHuggingFaceConfig.
absl::StatusOr<ModelSpec> ReadModel(const std::string& path,
                                    Warnings* warnings);

// Returns the bundled model of that name or alias. Case does not matter, and
// "_" equals "-". Text with a "/" or the ending .yaml, .yml or .json is the
// path of a file instead.
//
// Errors: those of ReadModel; NotFound `unknown model "TEXT"; did you
// mean ...` for another name.
absl::StatusOr<ModelSpec> FindModel(std::string_view name_or_path,
                                    Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_MODELS_MODEL_LIBRARY_H_
