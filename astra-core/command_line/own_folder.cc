#include "astra-core/command_line/own_folder.h"

#include <filesystem>
#include <system_error>

namespace astra {

std::string OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error)
      .parent_path()
      .string();
}

}  // namespace astra
