// Library of the systems known by name: the files of inputs/systems, compiled
// in.

#ifndef COLLECTIVES_SYSTEMS_SYSTEM_LIBRARY_H_
#define COLLECTIVES_SYSTEMS_SYSTEM_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/systems/system_file.h"
#include "collectives/systems/system_spec.h"

namespace astra {

// Returns the interconnects and transports, each sorted by name.
const SystemParts& BundledParts();

// Returns all systems, by name.
const std::vector<SystemSpec>& BundledSystems();

// Returns the names, without the aliases, sorted.
std::vector<std::string> SystemNames();

// Returns the system of this name or alias. Case does not matter, and "_" and
// "-" are the same.
//
// Errors: NotFound `unknown system "TEXT"; did you mean ...`.
absl::StatusOr<SystemSpec> FindSystem(std::string_view name);

// Finds a system by name, or reads it from a file: text with a "/", or that
// ends in .yaml or .yml, is a path. The file may name the interconnects and
// transports of BundledParts.
//
// Errors: those of FindSystem, ReadFile and ParseSystem.
absl::StatusOr<SystemSpec> LoadSystem(std::string_view name_or_path);

// Returns a file from which LoadSystem reads the same system; see FormatSystem.
//
// Requires that its interconnect and transport are of BundledParts.
std::string WriteSystem(const SystemSpec& system);

}  // namespace astra

#endif  // COLLECTIVES_SYSTEMS_SYSTEM_LIBRARY_H_
