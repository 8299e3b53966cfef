// Makes the page that gen_workload writes with AICB's --enable_visual: a pie of
// the bytes that a rank of the first pipeline stage communicates in an
// iteration, by collective and dimension. The bytes of a collective are those
// of its buffer, as nccl-tests counts them. A message of the pipeline counts in
// each direction.

#ifndef ASTRA_CORE_APPS_COMMUNICATION_CHART_H_
#define ASTRA_CORE_APPS_COMMUNICATION_CHART_H_

#include <string>
#include <string_view>

#include "workload/program.h"

namespace astra {

std::string CommunicationChart(std::string_view name, const Program& program);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COMMUNICATION_CHART_H_
