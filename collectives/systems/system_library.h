// The systems that are known by name: the files of inputs/systems, compiled in.

#ifndef COLLECTIVES_SYSTEMS_SYSTEM_LIBRARY_H_
#define COLLECTIVES_SYSTEMS_SYSTEM_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/systems/system_file.h"
#include "collectives/systems/system_spec.h"

namespace astra {

// The interconnects and transports, each sorted by name.
const SystemParts& BundledParts();

// All systems, by name.
const std::vector<SystemSpec>& BundledSystems();

// The names, without the aliases, sorted.
std::vector<std::string> SystemNames();

// The system of that name or alias, where upper and lower case, and "_" and
// "-", are the same.
//
// Errors: NotFound `unknown system "TEXT"; did you mean ...`.
absl::StatusOr<SystemSpec> FindSystem(std::string_view name);

// FindSystem, but text with a "/", or that ends in .yaml or .yml, is the path
// of a file, which may name the interconnects and transports of BundledParts.
//
// Errors: those of FindSystem, ReadFile and ParseSystem.
absl::StatusOr<SystemSpec> LoadSystem(std::string_view name_or_path);

// The file that LoadSystem reads back as the same system; see FormatSystem.
//
// Requires: its interconnect and transport are of BundledParts.
std::string WriteSystem(const SystemSpec& system);

}  // namespace astra

#endif  // COLLECTIVES_SYSTEMS_SYSTEM_LIBRARY_H_
