#include "astra-core/results/columns.h"

#include "astra-core/base/append_format.h"
#include "astra-core/results/changes_table.h"
#include "astra-core/results/collectives_table.h"
#include "astra-core/results/completions_table.h"
#include "astra-core/results/end_to_end.h"
#include "astra-core/results/explanation_tables.h"
#include "astra-core/results/iteration_table.h"
#include "astra-core/results/jobs_table.h"
#include "astra-core/results/latencies_table.h"
#include "astra-core/results/links_table.h"
#include "astra-core/results/memory_table.h"
#include "astra-core/results/message_sums.h"
#include "astra-core/results/network_tables.h"
#include "astra-core/results/stages_table.h"
#include "astra-core/results/storage_table.h"
#include "astra-core/results/trace_tables.h"

namespace astra {

std::vector<ColumnText> ResultColumns() {
  std::vector<ColumnText> columns;
  AppendEndToEndColumns(&columns);
  AppendIterationColumns(&columns);
  AppendCollectivesColumns(&columns);
  AppendLinksColumns(&columns);
  AppendExplanationColumns(&columns);
  AppendMemoryColumns(&columns);
  AppendStagesColumns(&columns);
  AppendNetworkColumns(&columns);
  AppendMessageSumsColumns(&columns);
  AppendJobsColumns(&columns);
  AppendLatenciesColumns(&columns);
  AppendStorageColumns(&columns);
  AppendChangesColumns(&columns);
  AppendTraceColumns(&columns);
  AppendCompletionsColumns(&columns);
  return columns;
}

std::string DescribeColumns() {
  std::string text;
  for (const ColumnText& column : ResultColumns()) {
    AppendFormat(&text, "{:<18}{:<20}{:<24}{}\n", column.file, column.name,
                 column.unit, column.meaning);
  }
  return text;
}

}  // namespace astra
