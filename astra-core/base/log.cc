#include "astra-core/base/log.h"

#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {

void Log::Print(std::string_view level, std::string_view message) const {
  // Uses fwrite, because fmt::print throws where it cannot write.
  const std::string line =
      fmt::format("{}: {}: {}\n", program_, level, Printable(message));
  std::fwrite(line.data(), 1, line.size(), out_);
}

}  // namespace astra
