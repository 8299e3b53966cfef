#include "astra-core/base/host_name.h"

#include <unistd.h>

namespace astra {

std::string HostName() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return host;
}

}  // namespace astra
