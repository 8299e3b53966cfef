// All congestion controls: their list, the options of all of them, and a table
// by name.
//
// A control is a class that implements CongestionControl and has
//
//   struct Options                     its parameters, with defaults; a type of
//                                      its own with a function Visit(), which
//                                      lists the keys and limits of its fields
//   kName, kDescription                its spelling in files, and one line
//   WhyWrong(options)                  what no control could work with, such as
//                                      "min_rate must be above 0"; or ""
//   explicit Control(options)
//
// To add one, include its header here and add its class to the list.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_REGISTRY_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_REGISTRY_H_

#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/congestion/dcqcn.h"
#include "network-frontends/packet/congestion/dctcp.h"
#include "network-frontends/packet/congestion/hpcc.h"
#include "network-frontends/packet/congestion/hpcc_pint.h"
#include "network-frontends/packet/congestion/none.h"
#include "network-frontends/packet/congestion/swift.h"
#include "network-frontends/packet/congestion/timely.h"
#include "network-frontends/packet/congestion/uec.h"

namespace astra {

// Network files are written in this order.
using CongestionControlTypes = std::tuple<Dcqcn, Hpcc, HpccPint, Timely, Dctcp,
                                          Swift, Uec, NoCongestionControl>;

// The name of the control that runs, and the parameters of all of them.
class CongestionOptions {
 public:
  std::string name = "dcqcn";

  // Returns the parameters of one control.
  template <class Control>
  typename Control::Options& of() {
    return std::get<typename Control::Options>(parts_);
  }
  template <class Control>
  const typename Control::Options& of() const {
    return std::get<typename Control::Options>(parts_);
  }

  // Calls call.operator()<Control>() for each control.
  template <class Call>
  static constexpr void ForEach(const Call& call) {
    Types<CongestionControlTypes>::ForEach(call);
  }

 private:
  template <class List>
  struct Types;
  template <class... Controls>
  struct Types<std::tuple<Controls...>> {
    using Parts = std::tuple<typename Controls::Options...>;
    template <class Call>
    static constexpr void ForEach(const Call& call) {
      (call.template operator()<Controls>(), ...);
    }
  };

  Types<CongestionControlTypes>::Parts parts_;
};

struct CongestionControlEntry {
  std::string_view name;         // Spelling in files and options.
  std::string_view description;  // One line.
  std::unique_ptr<CongestionControl> (*make)(const CongestionOptions& options);
};

// Returns all congestion controls, ordered by name.
absl::Span<const CongestionControlEntry> CongestionControls();

// Returns the control `name`. Errors: InvalidArgument, with the nearest name,
// if no control has the name.
absl::StatusOr<const CongestionControlEntry*> FindCongestionControl(
    std::string_view name);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_REGISTRY_H_
