// Times of single operations on a system of Calculon.
//
//   FLOPs and accesses   amount / (peak x efficiency of the amount)
//   layer                FLOPs + accesses, or the longer of both (roofline)
//   operation of n ranks latency + size x scalar x (1 + offset / n)
//                                  / (bandwidth x efficiency)
//
// Source: processor.py, memory.py, network.py, system.py of
// calculon-ai/calculon.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_MACHINE_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_MACHINE_H_

#include <cstdint>

#include "astra-core/planner/calculon/calculon_inputs.h"

namespace astra {

// Returns the seconds for `amount` FLOPs or bytes.
double CalculonSeconds(const CalculonRate& rate, double amount);

// Returns the seconds of a layer from those of its FLOPs and accesses.
double CalculonLayerSeconds(const CalculonSystem& system, double flops_seconds,
                            double memory_seconds);

// Returns the seconds of an operation with `bytes` on `ranks` ranks.
double CalculonNetworkSeconds(const CalculonNetwork& network, CalculonOp op,
                              double bytes, int64_t ranks);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_MACHINE_H_
