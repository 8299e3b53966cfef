#include "astra-core/sweep/results/table_text.h"

#include "tests/astra-core/sweep/results/made_up_table.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::FailedRow;
using testing::FinishedRow;
using testing::Numbered;
using testing::PendingRow;

SweepTable Example() {
  SweepTable table;
  table.variables = {"topology", "tp", "overlap"};
  table.num_axes = 2;
  table.metrics = {"iteration_ms", "tp", "mfu"};
  table.rows = Numbered(
      {FinishedRow({"Spectrum-X", "8", "0.10"}, {8094.014984701, 3, {}}),
       FailedRow({"a,\"b", "true", "-"}, "exit code 1, twice", 3),
       PendingRow({"DCN+", "08x", "1e3"}, 3)});
  table.rows[0].cost = {0.1, 2, 235.25, "n,7", "2026-01-31T12:00:00Z", 2};
  return table;
}

TEST(TableCsvTest, HasTheShortestNumbersThatAreExact) {
  EXPECT_EQ(
      TableCsv(Example(), false),
      "point,topology,tp,overlap,state,reason,iteration_ms,tp_metric,mfu\n"
      "1,Spectrum-X,8,0.10,finished,,8094.014984701,3,\n"
      "2,\"a,\"\"b\",true,-,failed,\"exit code 1, twice\",,,\n"
      "3,DCN+,08x,1e3,pending,,,,\n");
}

TEST(TableCsvTest, HasCostsAtTheEndIfAsked) {
  EXPECT_EQ(TableCsv(Example(), true),
            "point,topology,tp,overlap,state,reason,iteration_ms,tp_metric,mfu,"
            "wall_s,cpu_s,peak_memory_mib,host,ended,attempts\n"
            "1,Spectrum-X,8,0.10,finished,,8094.014984701,3,,"
            "0.1,2,235.25,\"n,7\",2026-01-31T12:00:00Z,2\n"
            "2,\"a,\"\"b\",true,-,failed,\"exit code 1, twice\",,,,,,,,,\n"
            "3,DCN+,08x,1e3,pending,,,,,,,,,,\n");
}

TEST(TableJsonLinesTest, HasValuesOfTheirKind) {
  SweepTable table = Example();
  table.rows[1].reason = "no \xff UTF-8";
  EXPECT_EQ(
      TableJsonLines(table),
      R"({"point":1,"state":"finished","reason":"","variables":{"topology":)"
      R"("Spectrum-X","tp":8,"overlap":0.1},"metrics":{"iteration_ms":)"
      R"(8094.014984701,"tp":3},"key":"k1","cost":{"wall_s":0.1,"cpu_s":2,)"
      R"("peak_memory_mib":235.25,"host":"n,7","ended":"2026-01-31T12:00:00Z",)"
      R"("attempts":2}})"
      "\n"
      R"({"point":2,"state":"failed","reason":"no )"
      "\xef\xbf\xbd"
      R"( UTF-8","variables":{"topology":"a,\"b","tp":true,"overlap":"-"},)"
      R"("metrics":{},"key":"k2"})"
      "\n"
      R"({"point":3,"state":"pending","reason":"","variables":{"topology":)"
      R"("DCN+","tp":"08x","overlap":1000.0},"metrics":{},"key":"k3"})"
      "\n");
}

}  // namespace
}  // namespace astra
