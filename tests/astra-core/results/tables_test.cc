#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "astra-core/engine/simulation.h"
#include "astra-core/results/collectives_table.h"
#include "astra-core/results/columns.h"
#include "astra-core/results/end_to_end.h"
#include "astra-core/results/explanation_tables.h"
#include "astra-core/results/iteration_table.h"
#include "astra-core/results/links_table.h"
#include "astra-core/results/summary.h"
#include "astra-core/results/table.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "workload/simai_text/simai_text_file.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Two servers of two GPUs; TP in a server, DP between them; two stages.
class ReportTest : public ::testing::Test {
 protected:
  ReportTest() {
    result_ = ValueOrDie(Simulate(workload_, {}, routes_, [this] {
      return std::make_unique<AnalyticalBackend>(routes_);
    }));
  }

  static Program MakeWorkload() {
    Warnings warnings;
    return ValueOrDie(ParseSimaiProgram(
        "w",
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 "
        "ga: 1 all_gpus: 4\n1\n"
        "a,b -1 1000 ALLREDUCE 1000000 0 NONE 0 500 ALLREDUCE 1000000 0\n",
        &warnings));
  }

  Topology topology_ = testing::Star(2, 2);
  Routes routes_{topology_};
  Program workload_ = MakeWorkload();
  SimulationResult result_;
};

TEST_F(ReportTest, EndToEndHasSimAisLayout) {
  const std::vector<std::string> lines = Lines(EndToEndCsv("run", result_));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0],
            "File name, Expose DP comm, Expose DP_EP comm, Expose TP comm, "
            "Expose_EP_comm, Expose_PP_comm, bubble time, total comp, total "
            "exposed comm, Total time");
  // TP: 1 MB at 100 GB/s; DP: at the NICs' 50 GB/s.
  EXPECT_EQ(lines[1],
            "run, 20.000000 (63.49%), 0.000000 (0.00%), 10.000000 (31.75%), "
            "0.000000 (0.00%), 0.000000 (0.00%), 0.000000 (0.00%), 1.500000 "
            "(4.76%), 30.000000 (95.24%), 31.500000");
  EXPECT_EQ(lines[3],
            "\"a,b\",Analytical_test,1.000000,0.500000,0.000000,10.000000,"
            "20.000000,0.000000,10.000000,100.00,100.00,20.000000,50.00,50.00,"
            "0.000000,0.00,0.00");
}

TEST_F(ReportTest, CollectivesSayWhatBoundsThem) {
  EXPECT_THAT(
      Lines(CollectivesCsv(topology_, result_)),
      ElementsAre(
          "layer,phase,collective,group,first_rank,ranks,groups,count,"
          "algorithm,protocol,bytes,start_us,last_start_us,finish_us,time_us,"
          "first_rank_time_us,algbw_GBps,busbw_GBps,bound_by,bottleneck_link,"
          "source",
          "\"a,b\",fwd,all-reduce,TP,0,2,2,1,ring,-,1000000,1.000000,1.000000,"
          "11.000000,10.000000,10.000000,100.000,100.000,bandwidth,GPU 0 -> "
          "NVSwitch 4 at 800 Gbps,model",
          "\"a,b\",wg,all-reduce,DP,0,2,2,1,ring,-,1000000,11.500000,"
          "11.500000,31.500000,20.000000,20.000000,50.000,50.000,bandwidth,GPU "
          "0 -> switch 6 (tier 1) at 400 Gbps,model"));
}

TEST_F(ReportTest, LinksCarryBytesAndSayHowBusyTheyAre) {
  const std::vector<std::string> lines = Lines(LinksCsv(topology_, result_));
  ASSERT_EQ(lines.size(), 1 + topology_.links().size());
  // 1 MB each way at 800 Gbps is 10 us of 31.5.
  EXPECT_EQ(lines[1], "0,0,gpu,4,nvswitch,800,1000000,0.317460");
  EXPECT_EQ(lines[3], "2,0,gpu,6,tier1,400,1000000,0.634921");
}

// The ranks of a class share a line; the parts of a rank add up.
TEST_F(ReportTest, TheIterationHasALineForEachClassOfRanks) {
  EXPECT_THAT(
      Lines(IterationCsv(result_)),
      ElementsAre("rank,ranks,stage,compute_us,slowed_us,exposed_us,"
                  "exposed_TP_us,exposed_CP_us,exposed_DP_us,exposed_EP_us,"
                  "exposed_ETP_us,exposed_DP_EP_us,exposed_PP_us,finish_us",
                  "0,4,0,1.500000,0.000000,30.000000,10.000000,0.000000,"
                  "20.000000,0.000000,0.000000,0.000000,0.000000,31.500000"));
}

struct Point {
  double x;
};

TEST(TableTest, HeaderRowsAndDictionaryComeFromTheColumns) {
  constexpr Column<Point> kColumns[] = {
      {"x_m", "m", "where it is",
       [](const Point& point, std::string* text) {
         AppendNumber(point.x, 2, text);
       }},
      {"name", "", "what it is called",
       [](const Point&, std::string* text) { AppendField("a,b", text); }},
  };
  std::string text = HeaderOf<Point>(kColumns);
  AppendRow<Point>(kColumns, {1.5}, &text);
  EXPECT_EQ(text, "x_m,name\n1.50,\"a,b\"\n");
  std::vector<ColumnText> texts;
  AppendTexts<Point>("points.csv", kColumns, &texts);
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0].file, "points.csv");
  EXPECT_EQ(texts[0].unit, "m");
  EXPECT_EQ(texts[1].meaning, "what it is called");
}

TEST(TableTest, TimesAreExactToThePicosecond) {
  std::string text;
  AppendUs(TimePs(0), &text);
  text += ' ';
  AppendUs(TimePs(1), &text);
  text += ' ';
  AppendUs(TimePs(9'007'199'254'740'993), &text);  // 2^53 + 1.
  EXPECT_EQ(text, "0.000000 0.000001 9007199254.740993");
}

TEST(TableTest, TheDictionaryHasNoColumnWithoutAMeaning) {
  for (const ColumnText& column : ResultColumns()) {
    EXPECT_FALSE(column.name.empty()) << column.file;
    EXPECT_FALSE(column.meaning.empty()) << column.name;
  }
}

TEST_F(ReportTest, TheSummaryNamesTotalsAndBounds) {
  const std::string text = DescribeTime(topology_, result_);
  EXPECT_THAT(text, HasSubstr("iteration                    0.031500 ms"));
  EXPECT_THAT(text,
              HasSubstr("exposed DP                   0.020000 ms   63.49 %"));
  EXPECT_THAT(text, HasSubstr("bound by GPU 0 -> NVSwitch 4 at 800 Gbps"));
  EXPECT_THAT(DescribeRun(workload_, topology_, result_),
              HasSubstr("TP 2 x DP 2 x PP 1 = 4 GPUs"));
}

// A module with two collectives in one phase; two micro-batches of it.
TEST_F(ReportTest, ModulesOfProgramsHaveSums) {
  ProgramParts parts;
  parts.sizes = {.num_ranks = 4, .tensor = 2, .micro_batches = 2};
  parts.forward_only = true;
  const auto blocking = [](CollectiveKind kind) {
    return Step{
        .kind = StepKind::kBlocking,
        .communication = {kind, ParallelDimension::kTensor, Bytes(1'000'000)}};
  };
  parts.modules = {{.name = "mlp",
                    .passes = {{{blocking(CollectiveKind::kAllReduce),
                                 blocking(CollectiveKind::kAllGather)}}}}};
  parts.stages = {{.runs = {{.modules = {ModuleId(0)}}}}};
  const Program program = ValueOrDie(Program::Create(std::move(parts)));
  const SimulationResult result =
      ValueOrDie(Simulate(program, {}, routes_, [this] {
        return std::make_unique<AnalyticalBackend>(routes_);
      }));
  // 10 us and 5 us of 1 MB each, at a bus bandwidth of 100 GB/s.
  EXPECT_EQ(Lines(EndToEndCsv("run", result))[3],
            "mlp,Analytical_test,0.000000,0.000000,0.000000,30.000000,0.000000,"
            "0.000000,30.000000,133.33,100.00,0.000000,0.00,0.00,0.000000,0.00,"
            "0.00");
  EXPECT_THAT(DescribeRun(program, topology_, result),
              HasSubstr("program    inference: 1 module, 1 stage, 2 "
                        "micro-batches\n"));
}

}  // namespace
}  // namespace astra
