#include "astra-core/base/log.h"

#include "fmt/format.h"

namespace astra {

void Log::Print(std::string_view level, std::string_view message) const {
  fmt::print(out_, "{}: {}: {}\n", program_, level, message);
}

}  // namespace astra
