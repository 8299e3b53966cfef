#include "collectives/calibration/calibrate.h"

#include <algorithm>
#include <cmath>

#include "collectives/calibration/calibrated_constants.h"
#include "collectives/nccl/estimator.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

constexpr int64_t kKiB = 1024;
constexpr int64_t kGiB = kKiB * kKiB * kKiB;

// Collectives of one kind and one cluster, from `first` bytes on, each 8 times
// as large as the one before.
struct Sweep {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  uint32_t num_gpus = 8;
  std::string nccl_options;
  int64_t first = kKiB;
  int64_t last = 8 * kGiB;
};

// What `truth` says that the sweeps take.
std::vector<Observation> Observe(const SystemSpec& truth,
                                 const std::vector<Sweep>& sweeps) {
  std::vector<Observation> observations;
  for (const Sweep& sweep : sweeps) {
    Observation observation = {.kind = sweep.kind, .num_gpus = sweep.num_gpus};
    observation.gpus_per_server = std::min(8U, sweep.num_gpus);
    if (!sweep.nccl_options.empty()) {
      EXPECT_TRUE(
          ApplyNcclOptionList(sweep.nccl_options, &observation.options).ok());
    }
    CollectiveEstimator estimator = ValueOrDie(CollectiveEstimator::Create(
        truth,
        ValueOrDie(BuildSystemTopology(truth, sweep.num_gpus,
                                       observation.gpus_per_server)),
        {}, observation.options));
    for (int64_t size = sweep.first; size <= sweep.last; size *= 8) {
      observation.bytes = Bytes(size);
      observation.time_us =
          ValueOrDie(estimator.Estimate(sweep.kind, Bytes(size))).time_us;
      observations.push_back(observation);
    }
  }
  return observations;
}

// The fit starts here.
SystemSpec Base() {
  SystemSpec system = ValueOrDie(LoadSystem("dgx-h100"));
  for (const CalibratedConstant& constant : CalibratedConstantsOf(system)) {
    if (constant.name.ends_with("efficiency")) *constant.value = 0.9;
    if (constant.name.ends_with("ramp_us")) *constant.value = 80;
    if (constant.name.ends_with("ramp_MiB")) *constant.value = 20;
  }
  system.interconnect.launch_us = 24;
  system.transport.launch_us = 30;
  system.transport.latency_us = 2;
  return system;
}

// The constants that are more than 2 % from those of `truth`.
std::vector<std::string> Missed(const SystemCalibration& calibration,
                                SystemSpec truth) {
  SystemSpec fitted = calibration.system;
  const std::vector<CalibratedConstant> got = CalibratedConstantsOf(fitted);
  const std::vector<CalibratedConstant> wanted = CalibratedConstantsOf(truth);
  std::vector<std::string> missed;
  for (size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(*got[i].value - *wanted[i].value);
    if (difference <= 0.02 * *wanted[i].value) continue;
    missed.push_back(fmt::format("{}: {}, not {}", got[i].name, *got[i].value,
                                 *wanted[i].value));
  }
  return missed;
}

std::vector<std::string> NamesOf(const SystemCalibration& calibration) {
  std::vector<std::string> names;
  for (const FittedConstant& constant : calibration.constants) {
    names.push_back(constant.name);
  }
  return names;
}

TEST(CalibrateTest, RecoversTheConstantsOfOneServer) {
  SystemSpec truth = Base();
  truth.interconnect.launch_us = 14;
  Paces& paces = truth.interconnect.paces;
  paces.algorithms[IndexOf(NcclAlgorithm::kRing)] = {0.7, 120, 50};
  paces.algorithms[IndexOf(NcclAlgorithm::kNvls)] = {0.8, 60, 30};
  paces.direct = {0.6, 40, 10};
  const SystemCalibration calibration = ValueOrDie(
      Calibrate(Base(), Observe(truth, {{CollectiveKind::kAllReduce, 8},
                                        {CollectiveKind::kAllReduce, 8,
                                         "NCCL_ALGO=Ring,NCCL_PROTO=Simple"},
                                        {CollectiveKind::kAllToAll, 8}})));
  // A launch or a transfer may hide a latency, so the fit may miss latencies.
  EXPECT_THAT(
      Missed(calibration, truth),
      Each(AnyOf(HasSubstr("LL"), HasSubstr("ll_GBps"), HasSubstr("start"),
                 HasSubstr("hop"), HasSubstr("spread"))))
      << CalibrationText(calibration);
  EXPECT_THAT(
      NamesOf(calibration),
      IsSupersetOf(
          {"interconnect launch_us", "interconnect ring efficiency",
           "interconnect ring ramp_us", "interconnect ring ramp_MiB",
           "interconnect nvls efficiency", "interconnect nvls ramp_us",
           "interconnect nvls ramp_MiB", "interconnect direct efficiency",
           "interconnect direct ramp_us", "interconnect direct ramp_MiB"}));
  EXPECT_GT(calibration.before.summary.p90_abs, 20);
  EXPECT_LT(calibration.after.summary.p90_abs, 0.5);
}

TEST(CalibrateTest, RecoversTheConstantsBetweenServers) {
  SystemSpec truth = Base();
  truth.transport.launch_us = 40;
  truth.transport.latency_us = 4;
  Paces& paces = truth.transport.paces;
  paces.algorithms[IndexOf(NcclAlgorithm::kRing)] = {0.8, 300, 60};
  paces.algorithms[IndexOf(NcclAlgorithm::kTree)] = {0.75, 100, 30};
  paces.direct = {0.65, 200, 20};
  const SystemCalibration calibration = ValueOrDie(Calibrate(
      Base(),
      Observe(truth, {{CollectiveKind::kAllGather, 32, "NCCL_ALGO=Ring"},
                      {CollectiveKind::kAllReduce, 64, "NCCL_ALGO=Tree"},
                      {CollectiveKind::kAllReduce, 64, "NCCL_ALGO=Ring"},
                      {CollectiveKind::kAllToAll, 16},
                      {CollectiveKind::kSendRecv, 16}})));
  EXPECT_THAT(Missed(calibration, truth), IsEmpty())
      << CalibrationText(calibration);
}

// Where there is no ramp, the size at which half of it is there tells nothing.
TEST(CalibrateTest, ARampMayGrowFromNone) {
  SystemSpec start = Base();
  Pace& ring = start.transport.paces.algorithms[IndexOf(NcclAlgorithm::kRing)];
  ring = {0.98, 0, 1};
  SystemSpec truth = start;
  truth.transport.paces.algorithms[IndexOf(NcclAlgorithm::kRing)] = {0.8, 300,
                                                                     60};
  const SystemCalibration calibration = ValueOrDie(Calibrate(
      start,
      Observe(truth, {{CollectiveKind::kAllGather, 32, "NCCL_ALGO=Ring"},
                      {CollectiveKind::kAllReduce, 64, "NCCL_ALGO=Ring"}})));
  EXPECT_THAT(Missed(calibration, truth), IsEmpty())
      << CalibrationText(calibration);
}

TEST(CalibrateTest, OneServerLeavesTheTransportAlone) {
  SystemSpec truth = Base();
  truth.interconnect.launch_us = 30;
  const SystemCalibration calibration =
      ValueOrDie(Calibrate(Base(), Observe(truth, {{}})));
  for (const std::string& name : NamesOf(calibration)) {
    EXPECT_THAT(name, ::testing::StartsWith("interconnect "));
  }
  EXPECT_EQ(calibration.system.transport.origin, Base().transport.origin);
  EXPECT_EQ(calibration.system.interconnect.origin,
            "fitted to 8 measurements; error on them: median 0.0 %, 90th "
            "percentile 0.0 %; on rows left out of the fit: median 0.0 %, 90th "
            "percentile 0.0 %");
}

TEST(CalibrateTest, SmallSizesLeaveEfficienciesAlone) {
  SystemSpec truth = Base();
  truth.interconnect.launch_us = 30;
  const SystemCalibration calibration =
      ValueOrDie(Calibrate(Base(), Observe(truth, {{.last = 64 * kKiB}})));
  EXPECT_THAT(NamesOf(calibration), ElementsAre("interconnect launch_us"));
}

TEST(CalibrateTest, WhatFitsStaysAsItWas) {
  const SystemCalibration calibration =
      ValueOrDie(Calibrate(Base(), Observe(Base(), {{}, {.num_gpus = 16}})));
  EXPECT_THAT(calibration.constants, IsEmpty());
  EXPECT_EQ(WriteSystem(calibration.system), WriteSystem(Base()));
}

TEST(CalibrateTest, GivesTheSameEachTime) {
  SystemSpec truth = Base();
  truth.interconnect.paces.direct = {0.6, 40, 10};
  const std::vector<Observation> observations = Observe(
      truth, {{CollectiveKind::kAllToAll}, {CollectiveKind::kAllToAll, 16}});
  const SystemCalibration first = ValueOrDie(Calibrate(Base(), observations));
  const SystemCalibration second = ValueOrDie(Calibrate(Base(), observations));
  EXPECT_EQ(WriteSystem(first.system), WriteSystem(second.system));
  EXPECT_EQ(CalibrationText(first), CalibrationText(second));
}

// One measurement in seven that is three times too long.
TEST(CalibrateTest, OutliersHardlyMatter) {
  SystemSpec truth = Base();
  truth.interconnect.paces.direct.efficiency = 0.6;
  std::vector<Observation> observations =
      Observe(truth, {{.kind = CollectiveKind::kAllToAll, .first = 64 * kKiB},
                      {.kind = CollectiveKind::kAllToAll,
                       .num_gpus = 4,
                       .first = 128 * kKiB}});
  for (size_t i = 0; i < observations.size(); i += 7) {
    observations[i].time_us *= 3;
  }
  const SystemCalibration calibration =
      ValueOrDie(Calibrate(Base(), observations));
  EXPECT_NEAR(calibration.system.interconnect.paces.direct.efficiency, 0.6,
              0.03);
  EXPECT_LT(calibration.after.summary.median_abs, 3);
}

// Every prediction is some ten times too short at first, so that the former
// constants seem as uncertain as that.
TEST(CalibrateTest, ConstantsThatAreFarOffAreFound) {
  const SystemSpec base = ValueOrDie(LoadSystem("h100-ethernet"));
  SystemSpec truth = base;
  truth.transport.latency_us = 400;
  truth.transport.paces.algorithms[IndexOf(NcclAlgorithm::kRing)].efficiency =
      0.04;
  const SystemCalibration calibration = ValueOrDie(
      Calibrate(base, Observe(truth, {{CollectiveKind::kAllReduce, 16,
                                       "NCCL_ALGO=Ring,NCCL_PROTO=Simple"}})));
  const Transport& fitted = calibration.system.transport;
  EXPECT_NEAR(fitted.latency_us / 400, 1, 0.02);
  EXPECT_NEAR(fitted.paces.of(NcclAlgorithm::kRing).efficiency / 0.04, 1, 0.02);
}

TEST(CalibrateTest, RefusesWhatCannotBeFitted) {
  const auto error_of = [](const std::vector<Observation>& observations) {
    return Calibrate(Base(), observations).status();
  };
  const auto is = [](const std::string& message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, message);
  };
  const Observation good = {
      .num_gpus = 8, .gpus_per_server = 8, .bytes = Bytes(kKiB), .time_us = 30};
  Observation bad = good;
  EXPECT_THAT(error_of({}), is("no observations to calibrate with"));
  bad.num_gpus = 1;
  EXPECT_THAT(
      error_of({good, bad}),
      is("observation 2: a collective of 1 GPU(s): expected 2 or more"));
  bad = good;
  bad.bytes = Bytes(0);
  EXPECT_THAT(error_of({bad}),
              is("observation 1: a collective of 0B: expected 1 byte or more"));
  bad = good;
  bad.time_us = 0;
  EXPECT_THAT(error_of({bad}),
              is("observation 1: a time of 0 us: expected one above 0"));
  bad.time_us = NAN;
  EXPECT_THAT(error_of({bad}),
              is("observation 1: a time of nan us: expected one above 0"));
  bad = good;
  bad.num_gpus = 12;
  EXPECT_THAT(error_of({bad}),
              is("observation 1: 12 GPUs do not divide into servers of 8"));
}

// The truth has an efficiency, a ramp and the size of the ramp that are not
// those of the base. Two sizes do not tell them apart, however often they were
// measured.
TEST(CalibrateTest, RefusesMoreConstantsThanMeasurements) {
  SystemSpec truth = Base();
  truth.interconnect.paces.direct = {0.6, 200, 60};
  std::vector<Observation> observations =
      Observe(truth, {{.kind = CollectiveKind::kAllToAll,
                       .first = kGiB / 4,
                       .last = 2 * kGiB}});
  ASSERT_EQ(observations.size(), 2u);
  observations.push_back(observations.back());
  EXPECT_THAT(
      Calibrate(Base(), observations).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "3 constants cannot be fitted to 2 different measurements: "
               "measure more sizes, at least 3"));
}

// Without noise, a fit to the other sizes predicts the one left out.
TEST(CalibrateTest, RowsLeftOutAreMetWhereTheModelHolds) {
  SystemSpec truth = Base();
  truth.interconnect.paces.direct = {0.6, 40, 10};
  const SystemCalibration calibration = ValueOrDie(
      Calibrate(Base(), Observe(truth, {{CollectiveKind::kAllToAll},
                                        {CollectiveKind::kAllToAll, 4}})));
  EXPECT_EQ(calibration.left_out.errors.size(), 16u);
  EXPECT_LT(calibration.left_out.summary.median_abs, 1);
  EXPECT_GE(calibration.left_out.summary.p90_abs,
            calibration.after.summary.p90_abs);
}

// The second of two measurements takes twice as long, and occurs twice. A fit
// that leaves it out leaves both of its rows out, and so does not know of it.
TEST(CalibrateTest, RepeatedMeasurementsAreLeftOutTogether) {
  SystemSpec truth = Base();
  std::vector<Observation> observations = Observe(
      truth, {{.first = kKiB, .last = kKiB}, {.num_gpus = 4, .last = kKiB}});
  ASSERT_EQ(observations.size(), 2u);
  observations[1].time_us *= 2;
  observations.push_back(observations[1]);
  const SystemCalibration calibration =
      ValueOrDie(Calibrate(Base(), observations));
  EXPECT_EQ(calibration.num_measurements, 2u);
  ASSERT_EQ(calibration.left_out.errors.size(), 3u);
  EXPECT_NEAR(calibration.left_out.errors[0], 100, 2);
  EXPECT_NEAR(calibration.left_out.errors[1], -50, 0.1);
  EXPECT_NEAR(calibration.left_out.errors[2], -50, 0.1);
}

TEST(CalibrateTest, OneMeasurementLeavesNothingOut) {
  SystemSpec truth = Base();
  truth.interconnect.launch_us = 30;
  const SystemCalibration calibration =
      ValueOrDie(Calibrate(Base(), Observe(truth, {{.last = kKiB}})));
  EXPECT_THAT(calibration.left_out.errors, IsEmpty());
  EXPECT_EQ(calibration.system.interconnect.origin,
            "fitted to 1 measurement; error on them: median 0.0 %, 90th "
            "percentile 0.0 %");
}

TEST(CalibrateTest, TheReportNamesWhatChanged) {
  SystemCalibration calibration;
  calibration.constants = {{"interconnect launch_us", 24, 14.5}};
  calibration.before.summary = {.median_abs = 20.25, .p90_abs = 101};
  calibration.after.errors = {1, -2};
  calibration.after.summary = {.median_abs = 1, .p90_abs = 2};
  const std::string constants =
      "\nconstant                             before      after\n"
      "interconnect launch_us                   24       14.5\n";
  EXPECT_EQ(
      CalibrationText(calibration),
      "1 constant fitted to 2 measurements\n\n"
      "error                                before      after   left out\n"
      "median                               20.2 %      1.0 %          -\n"
      "90th percentile                     101.0 %      2.0 %          -\n"
      "left out: none, since there is only one measurement\n" +
          constants);
  calibration.left_out.errors = {3, -4};
  calibration.left_out.summary = {.median_abs = 3, .p90_abs = 4};
  EXPECT_EQ(
      CalibrationText(calibration),
      "1 constant fitted to 2 measurements\n\n"
      "error                                before      after   left out\n"
      "median                               20.2 %      1.0 %      3.0 %\n"
      "90th percentile                     101.0 %      2.0 %      4.0 %\n"
      "left out: errors on rows that the fit did not see, which was "
      "repeated without them\n" +
          constants);
}

}  // namespace
}  // namespace astra
