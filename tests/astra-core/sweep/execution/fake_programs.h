// Programs of a sweep that are shell scripts, for tests of what runs them.

#ifndef TESTS_ASTRA_CORE_SWEEP_EXECUTION_FAKE_PROGRAMS_H_
#define TESTS_ASTRA_CORE_SWEEP_EXECUTION_FAKE_PROGRAMS_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/sweep/execution/scheduler.h"
#include "tests/testing/files.h"

namespace astra::testing {

inline constexpr SweptProgram kFakeTopo = {.name = "fake_topo",
                                           .role = ProgramRole::kTopology};
inline constexpr SweptProgram kFakeRun = {.name = "fake_run",
                                          .role = ProgramRole::kRun,
                                          .topology_option = "topology"};

// A folder with scripts and a sweep.
class FakeSweep {
 public:
  FakeSweep() : folder_(temporary_.PathOf("sweep")) {
    std::filesystem::create_directory(temporary_.PathOf("bin"));
    // "--output FILE" are the last arguments.
    WriteScript("fake_topo",
                "while [ $# -gt 2 ]; do shift; done\n"
                "echo made >>made_inputs; echo topology >\"$2\"\n");
    // "--output DIR --result NAME" are the last four.
    WriteScript("fake_run",
                "while [ $# -gt 4 ]; do shift; done\n"
                "echo '{\"program\": \"fake\", \"result\": {\"iteration_ps\": "
                "2000000000}}' "
                ">\"$2/run.json\"\n");
  }

  void WriteScript(std::string_view name, std::string_view body) const {
    const std::string path = temporary_.PathOf("bin") + "/" + std::string(name);
    WriteText(path, "#!/bin/sh\nset -e\n" + std::string(body));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  // A point of one step, or of two where it needs a topology.
  static PreparedPoint Point(uint32_t number, bool has_topology = false) {
    PreparedPoint point;
    point.point.number = number;
    if (has_topology) point.steps.push_back({&kFakeTopo, {"-g", "8"}, "topo"});
    point.steps.push_back({&kFakeRun,
                           {"--x", std::to_string(number)},
                           "key" + std::to_string(number)});
    return point;
  }

  // The points must outlive it.
  SweepRun Run(absl::Span<const PreparedPoint* const> points) const {
    return SweepRun{folder_,
                    "fake",
                    "simai_sweep: 1\n",
                    temporary_.path(),
                    temporary_.PathOf("bin"),
                    "/nowhere/simai_sweep",
                    "0.0",
                    int64_t{1} << 20,
                    points};
  }

  const SweepFolder& folder() const { return folder_; }
  std::string PathOf(std::string_view name) const {
    return temporary_.PathOf(name);
  }

 private:
  TemporaryFolder temporary_;
  SweepFolder folder_;
};

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_SWEEP_EXECUTION_FAKE_PROGRAMS_H_
