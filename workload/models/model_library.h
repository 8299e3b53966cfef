// The models that a user may name.

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

// The files of inputs/models, which are part of the program.
absl::Span<const EmbeddedFile> BundledModels();

// The names of the bundled models, without their aliases, sorted.
std::vector<std::string> ModelNames();

// The model in the file `path`: a config.json of Hugging Face where the first
// character that is not blank is "{", and a YAML file otherwise.
//
// Errors: those of ReadFile, ParseModel and ParseHuggingFaceConfig.
absl::StatusOr<ModelSpec> ReadModel(const std::string& path,
                                    Warnings* warnings);

// The bundled model of that name or alias, where upper and lower case, and "_"
// and "-", are the same. Text with a "/", or that ends in .yaml, .yml or .json,
// is the path of a file instead.
//
// Errors: those of ReadModel; NotFound `unknown model "TEXT"; did you
// mean ...` for another name.
absl::StatusOr<ModelSpec> FindModel(std::string_view name_or_path,
                                    Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_MODELS_MODEL_LIBRARY_H_
