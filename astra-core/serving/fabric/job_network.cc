#include "astra-core/serving/fabric/job_network.h"

#include <algorithm>

#include "workload/serving/request.h"

namespace astra {

void JobNetwork::Send(const Message& message) {
  Message sent = message;
  sent.source = nodes_[message.source.index()];
  sent.target = nodes_[message.target.index()];
  fabric_.SendOfJob(sent);
}

void JobNetwork::AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) {
  fabric_.AdvanceTo(start_ + std::min(limit, kMaxServingTime - start_),
                    arrived);
}

}  // namespace astra
