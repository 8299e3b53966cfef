#include "astra-core/hosts/fabric/fabric_device.h"

#include <netdb.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

// The providers that are tried, in this order, if none is given.
constexpr std::string_view kFirstProviders[] = {"verbs;ofi_rxm", "efa"};

FabricInfo NoInfo(const Libfabric& library) {
  return {nullptr, library.freeinfo};
}

// Returns all descriptions that have what an endpoint needs, in the order of
// libfabric; null if there is none.
FabricInfo Find(const Libfabric& library, std::string_view provider) {
  FabricInfo hints(library.dupinfo(nullptr), library.freeinfo);
  if (hints == nullptr) return NoInfo(library);
  hints->caps = FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->domain_attr->cq_data_size = sizeof(uint32_t);
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  constexpr size_t kParts = 2;  // Of a FabricWrite.
  hints->tx_attr->iov_limit = kParts;
  if (!provider.empty()) {
    hints->fabric_attr->prov_name = strndup(provider.data(), provider.size());
  }
  fi_info* found = nullptr;
  const int result = library.getinfo(kLibfabricVersion, nullptr, nullptr, 0,
                                     hints.get(), &found);
  return {result == 0 ? found : nullptr, library.freeinfo};
}

// Returns an address of IP as text; "" for an address of another kind.
std::string TextOf(const void* address, size_t size) {
  std::array<char, NI_MAXHOST> text{};
  const int result = getnameinfo(static_cast<const sockaddr*>(address),
                                 static_cast<socklen_t>(size), text.data(),
                                 text.size(), nullptr, 0, NI_NUMERICHOST);
  return result == 0 ? text.data() : "";
}

// Returns the address of IP that a device has; "" if it has none.
std::string AddressOf(const fi_info& info) {
  const bool is_ip =
      info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6;
  return is_ip && info.src_addr != nullptr
             ? TextOf(info.src_addr, info.src_addrlen)
             : "";
}

bool IsLoopback(const fi_info& info) {
  const std::string address = AddressOf(info);
  return address.rfind("127.", 0) == 0 || address == "::1";
}

// Returns the addresses of a host, which may be a name.
std::vector<std::string> AddressesOf(const std::string& host) {
  std::vector<std::string> texts;
  addrinfo* found = nullptr;
  if (host.empty() ||
      getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0) {
    return texts;
  }
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    texts.push_back(TextOf(each->ai_addr, each->ai_addrlen));
  }
  freeaddrinfo(found);
  return texts;
}

// Returns the first description of each device, without the loopback device,
// unless it is named or the only one.
std::vector<const fi_info*> DevicesOf(const fi_info* all,
                                      std::string_view named) {
  std::vector<const fi_info*> devices;
  const fi_info* loopback = nullptr;
  for (const fi_info* info = all; info != nullptr; info = info->next) {
    const std::string device = NameOf(*info).device;
    const bool is_known = std::any_of(
        devices.begin(), devices.end(),
        [&](const fi_info* other) { return NameOf(*other).device == device; });
    if (is_known) continue;
    if (!IsLoopback(*info) || device == named) {
      devices.push_back(info);
    } else if (loopback == nullptr) {
      loopback = info;
    }
  }
  if (devices.empty()) devices.push_back(loopback);
  return devices;
}

std::vector<std::string> NamesOf(const std::vector<const fi_info*>& devices) {
  std::vector<std::string> names;
  names.reserve(devices.size());
  for (const fi_info* info : devices) names.push_back(NameOf(*info).device);
  return names;
}

// Returns the providers that can be used on this host, each once.
std::vector<std::string> ProvidersHere(const Libfabric& library) {
  std::vector<std::string> providers;
  const FabricInfo all = Find(library, "");
  for (const fi_info* info = all.get(); info != nullptr; info = info->next) {
    const std::string name = NameOf(*info).provider;
    if (std::find(providers.begin(), providers.end(), name) ==
        providers.end()) {
      providers.push_back(name);
    }
  }
  return providers;
}

absl::Status NoProvider(const Libfabric& library, const DeviceWish& wish) {
  if (wish.provider.empty()) {
    return absl::NotFoundError(fmt::format(
        "there is no RDMA device on this host: libfabric finds none for {}; "
        "use --transport tcp, or name another one of its providers with "
        "--provider",
        fmt::join(kFirstProviders, " or ")));
  }
  const std::vector<std::string> here = ProvidersHere(library);
  const std::vector<std::string_view> names(here.begin(), here.end());
  return absl::NotFoundError(fmt::format(
      "--provider is {}, for which libfabric finds no device on this host{}: "
      "it finds {}",
      Quoted(wish.provider), DidYouMean(wish.provider, names),
      here.empty() ? "none" : fmt::format("{}", fmt::join(here, ", "))));
}

// Returns the descriptions of the provider that the wish chooses.
FabricInfo FindProvider(const Libfabric& library, const DeviceWish& wish) {
  if (!wish.provider.empty()) return Find(library, wish.provider);
  for (const std::string_view provider : kFirstProviders) {
    FabricInfo found = Find(library, provider);
    if (found != nullptr) return found;
  }
  return NoInfo(library);
}

// Returns the description with one of the addresses; null if there is none.
const fi_info* WithAddress(const fi_info* all,
                           const std::vector<std::string>& addresses) {
  for (const fi_info* info = all; info != nullptr; info = info->next) {
    if (std::find(addresses.begin(), addresses.end(), AddressOf(*info)) !=
        addresses.end()) {
      return info;
    }
  }
  return nullptr;
}

absl::StatusOr<const fi_info*> Choose(const fi_info* all,
                                      const DeviceWish& wish) {
  if (wish.device.empty()) {
    const fi_info* info = WithAddress(all, AddressesOf(wish.address));
    if (info != nullptr) return info;
  }
  const std::vector<const fi_info*> devices = DevicesOf(all, wish.device);
  if (wish.device.empty()) return devices[wish.local_rank % devices.size()];
  for (const fi_info* info : devices) {
    if (NameOf(*info).device == wish.device) return info;
  }
  const std::vector<std::string> here = NamesOf(devices);
  const std::vector<std::string_view> names(here.begin(), here.end());
  return absl::NotFoundError(fmt::format(
      "--device is {}, which libfabric's provider {} does not find on this "
      "host{}: it finds {}",
      Quoted(wish.device), NameOf(*all).provider,
      DidYouMean(wish.device, names), fmt::join(here, ", ")));
}

}  // namespace

FabricName NameOf(const fi_info& info) {
  return {.provider = info.fabric_attr->prov_name,
          .device = info.domain_attr->name};
}

absl::StatusOr<FabricInfo> ChooseDevice(const Libfabric& library,
                                        const DeviceWish& wish) {
  const FabricInfo found = FindProvider(library, wish);
  if (found == nullptr) return NoProvider(library, wish);
  ASTRA_ASSIGN_OR_RETURN(const fi_info* chosen, Choose(found.get(), wish));
  return FabricInfo(library.dupinfo(chosen), library.freeinfo);
}

}  // namespace astra
