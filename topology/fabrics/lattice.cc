#include "topology/fabrics/lattice.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"

namespace astra {

uint32_t Lattice::size() const { return StrideOf(shape.size()); }

uint32_t Lattice::StrideOf(size_t dimension) const {
  uint32_t stride = 1;
  for (size_t i = 0; i < dimension; ++i) stride *= shape[i];
  return stride;
}

uint32_t Lattice::Along(uint32_t number, size_t dimension) const {
  return number / StrideOf(dimension) % shape[dimension];
}

namespace {

// Reads shape and cable; the cable is that of the NICs unless it is said.
Lattice ReadLattice(const ServerSpec& servers, const NicSpec& nics,
                    YamlFields& fields) {
  constexpr size_t kMostDimensions = 6;
  Lattice lattice;
  int64_t size = 1;
  for (const std::string& text : fields.Texts("shape")) {
    const absl::StatusOr<int64_t> length =
        ParseInteger("", text, 2, Topology::kMaxNodes);
    if (!length.ok()) {
      fields.Error("shape", fmt::format("expected lengths of 2 or more, not {}",
                                        Quoted(text)));
      return lattice;
    }
    size *= *length;
    if (size > Topology::kMaxNodes) {
      fields.Error("shape",
                   fmt::format("more than {} switches", Topology::kMaxNodes));
      return lattice;
    }
    lattice.shape.push_back(static_cast<uint32_t>(*length));
  }
  if (lattice.shape.empty() || lattice.shape.size() > kMostDimensions) {
    fields.Error("shape", "expected 1 to 6 lengths, such as [4, 4, 4]");
  }
  lattice.cable = ReadCable(nics.cable, fields);
  if (HasGpuWithSeveralNics(servers)) {
    fields.Error("shape", "a GPU has one NIC to its switch here, not several");
  }
  return lattice;
}

// Adds a switch for each point, with its block of NICs.
std::vector<NodeId> DrawPoints(const Lattice& lattice, uint32_t first,
                               uint32_t end, FabricDrawing& drawing) {
  const uint32_t per_server = drawing.nics_per_server();
  const uint32_t nics = (end - first) * per_server;
  if (nics % lattice.size() != 0) {
    drawing.Error(fmt::format("{} NICs do not divide among {} switches", nics,
                              lattice.size()));
    return {};
  }
  std::vector<NodeId> switches = drawing.AddSwitches(lattice.size());
  if (switches.empty()) return switches;
  for (uint32_t i = 0; i < nics; ++i) {
    drawing.CableNic(first + i / per_server, i % per_server,
                     switches[i / (nics / lattice.size())]);
  }
  return switches;
}

class LatticeFabric final : public FabricDesign {
 public:
  LatticeFabric(Lattice lattice, LatticeCabling join)
      : lattice_(std::move(lattice)), join_(join) {}

  std::vector<NodeId> Draw(uint32_t first, uint32_t end, uint32_t /*plane*/,
                           FabricDrawing& drawing) const override {
    std::vector<NodeId> switches = DrawPoints(lattice_, first, end, drawing);
    if (!switches.empty()) join_(lattice_, switches, drawing);
    return switches;
  }

 private:
  const Lattice lattice_;
  const LatticeCabling join_;
};

}  // namespace

std::unique_ptr<FabricDesign> ReadLatticeFabric(const ServerSpec& servers,
                                                const NicSpec& nics,
                                                YamlFields& fields,
                                                LatticeCabling join) {
  return std::make_unique<LatticeFabric>(ReadLattice(servers, nics, fields),
                                         join);
}

}  // namespace astra
