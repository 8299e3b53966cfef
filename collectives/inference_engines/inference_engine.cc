#include "collectives/inference_engines/inference_engine.h"

#include <algorithm>

#include "astra-core/base/check.h"

namespace astra {
namespace {

struct Names {
  std::string_view in_results;
  std::string_view in_files;
  std::string_view in_registry;
};

// By algorithm. The multicast kernels move the same bytes as NCCL's NVLS.
constexpr std::array<Names, kNumEngineAlgorithms> kNames = {{
    {"OneShot", "one_shot", "one_shot"},
    {"TwoShot", "two_shot", "two_shot"},
    {"SymmetricTwoShot", "symmetric_two_shot", "two_shot"},
    {"Multicast", "multicast", "nvls"},
}};

const Names& NamesOf(EngineAlgorithm algorithm) {
  return kNames[static_cast<size_t>(algorithm)];
}

}  // namespace

std::string_view Name(EngineAlgorithm algorithm) {
  return NamesOf(algorithm).in_results;
}

std::string_view FileName(EngineAlgorithm algorithm) {
  return NamesOf(algorithm).in_files;
}

std::string_view RegistryName(EngineAlgorithm algorithm) {
  return NamesOf(algorithm).in_registry;
}

const EngineLinks* InferenceEngine::LinksOf(
    std::string_view interconnect) const {
  const std::string_view generation =
      interconnect.substr(0, interconnect.find('-'));
  const auto found = std::find_if(
      links.begin(), links.end(),
      [&](const EngineLinks& entry) { return entry.links == generation; });
  return found == links.end() ? nullptr : &*found;
}

const EngineKernel* InferenceEngine::KernelFor(std::string_view interconnect,
                                               uint32_t num_ranks,
                                               Bytes bytes) const {
  const EngineLinks* const entry = LinksOf(interconnect);
  if (entry == nullptr) return nullptr;
  for (const EngineChoice& choice : entry->choices) {
    if (choice.num_ranks == num_ranks && bytes < choice.below) {
      return &choice.kernel;
    }
  }
  return nullptr;
}

}  // namespace astra
