// Makes of cable, with their properties spelt as in topology files.

#ifndef TOPOLOGY_FABRICS_CABLE_H_
#define TOPOLOGY_FABRICS_CABLE_H_

#include <string>

#include "astra-core/base/units.h"
#include "astra-core/base/yaml_reader.h"

namespace astra {

struct CableSpec {
  std::string rate;
  std::string latency = "500ns";
  std::string error_rate = "0";

  friend bool operator==(const CableSpec&, const CableSpec&) = default;
};

// Reads the fields rate, latency and error_rate of a cable; what is absent is
// that of `otherwise`.
CableSpec ReadCable(const CableSpec& otherwise, YamlFields& fields);

// Returns a rate as topology files spell it, in Gbps where that is a whole
// number: "400Gbps".
std::string CableRateText(Bandwidth rate);

}  // namespace astra

#endif  // TOPOLOGY_FABRICS_CABLE_H_
