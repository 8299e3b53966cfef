// The words with which SimAI's text names the collective of a phase and the
// group that runs it, such as "ALLREDUCE_DP_EP".

#ifndef WORKLOAD_SIMAI_TEXT_COMMUNICATION_NAME_H_
#define WORKLOAD_SIMAI_TEXT_COMMUNICATION_NAME_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/phase.h"

namespace astra {

// The word for no collective.
constexpr std::string_view kNoCommunication = "NONE";

// Returns all words, kNoCommunication first.
std::vector<std::string> CommunicationNames();

// Returns the collective that `text` names in `phase`, of 0 bytes; nullopt if
// the word is unknown. Without a suffix, weight gradients are exchanged over DP
// and the data of the other phases over TP.
std::optional<Communication> FindCommunication(std::string_view text,
                                               Phase phase);

// Returns the word for `communication` in `phase`. Requires that there is one;
// see FormatSimaiText.
std::string NameOf(const Communication& communication, Phase phase);

}  // namespace astra

#endif  // WORKLOAD_SIMAI_TEXT_COMMUNICATION_NAME_H_
