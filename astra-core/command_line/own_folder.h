// Finds the folder of this program. The programs of an installation lie in one
// folder and find one another there.

#ifndef ASTRA_CORE_COMMAND_LINE_OWN_FOLDER_H_
#define ASTRA_CORE_COMMAND_LINE_OWN_FOLDER_H_

#include <string>

namespace astra {

// Returns the folder that holds the executable of this process, with symbolic
// links followed. Returns an empty string where the system does not tell it.
std::string OwnFolder();

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_OWN_FOLDER_H_
