#include "workload/attention/registry.h"

#include "fmt/core.h"

namespace astra {
namespace {

template <class... Kinds>
std::vector<AnyAttention> OneOfEach(const std::variant<Kinds...>* /*all*/) {
  static_assert((AttentionKind<Kinds> && ...));
  return {Kinds()...};
}

std::vector<AnyAttention> AllKinds() {
  return OneOfEach(static_cast<const AnyAttention*>(nullptr));
}

bool IsBeside(const AnyAttention& attention) {
  return std::visit([](const auto& kind) { return !kind.kBeside.empty(); },
                    attention);
}

}  // namespace

std::vector<AnyAttention> AttentionKinds(bool beside) {
  std::vector<AnyAttention> kinds;
  for (const AnyAttention& kind : AllKinds()) {
    if (IsBeside(kind) == beside) kinds.push_back(kind);
  }
  return kinds;
}

std::string SectionOf(const AnyAttention& attention) {
  if (!IsBeside(attention)) return "attention";
  return std::visit(
      [](const auto& kind) { return fmt::format("{}_attention", kind.kName); },
      attention);
}

std::string_view InferredLayerOf(std::string_view module) {
  std::string_view longest;
  std::string_view layer;
  for (const AnyAttention& attention : AllKinds()) {
    std::visit(
        [&](const auto& kind) {
          if (module.rfind(kind.kModules, 0) != 0) return;
          if (kind.kModules.size() <= longest.size()) return;
          longest = kind.kModules;
          layer = kind.kInferredLayer;
        },
        attention);
  }
  return layer;
}

}  // namespace astra
