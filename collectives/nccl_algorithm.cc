#include "collectives/nccl_algorithm.h"

#include "astra-core/base/check.h"

namespace astra {

std::string_view Name(NcclAlgorithm algorithm) {
  switch (algorithm) {
    case NcclAlgorithm::kTree:
      return "Tree";
    case NcclAlgorithm::kRing:
      return "Ring";
    case NcclAlgorithm::kCollnetDirect:
      return "CollNetDirect";
    case NcclAlgorithm::kCollnetChain:
      return "CollNetChain";
    case NcclAlgorithm::kNvls:
      return "NVLS";
    case NcclAlgorithm::kNvlsTree:
      return "NVLSTree";
    case NcclAlgorithm::kPat:
      return "PAT";
  }
  ASTRA_CHECK(false, "NCCL algorithm {}", static_cast<int>(algorithm));
}

std::string_view Name(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::kLl:
      return "LL";
    case NcclProtocol::kLl128:
      return "LL128";
    case NcclProtocol::kSimple:
      return "Simple";
  }
  ASTRA_CHECK(false, "NCCL protocol {}", static_cast<int>(protocol));
}

std::string_view RegistryName(NcclAlgorithm algorithm) {
  switch (algorithm) {
    case NcclAlgorithm::kTree:
      return "tree";
    case NcclAlgorithm::kRing:
      return "ring";
    case NcclAlgorithm::kCollnetDirect:
      return "collnet_direct";
    case NcclAlgorithm::kCollnetChain:
      return "collnet_chain";
    case NcclAlgorithm::kNvls:
      return "nvls";
    case NcclAlgorithm::kNvlsTree:
      return "nvls_tree";
    case NcclAlgorithm::kPat:
      return "pat";
  }
  ASTRA_CHECK(false, "NCCL algorithm {}", static_cast<int>(algorithm));
}

double WireShare(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::kLl:
      return 2;
    case NcclProtocol::kLl128:
      return 128.0 / 120;
    case NcclProtocol::kSimple:
      break;
  }
  return 1;
}

}  // namespace astra
