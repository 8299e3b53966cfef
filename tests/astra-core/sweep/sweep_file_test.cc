#include "astra-core/sweep/sweep_file.h"

#include <string>
#include <utility>
#include <vector>

#include "fmt/core.h"
#include "tests/astra-core/sweep/small_sweeps.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ErrorOf;
using ::astra::testing::Read;
using ::astra::testing::ValueOrDie;
using Texts = std::vector<std::string>;

constexpr std::string_view kEveryPart =
    "simai_sweep: 1\n"
    "name: night-1\n"
    "axes:\n"
    "  tp: [2, 4]\n"
    "repeats: 2\n"
    "let:\n"
    "  dp: ${8 / tp}\n"
    "constraints: dp > 1\n"
    "exclude: ['tp == 4', \"${seed == 1}\"]\n"
    "simulate: {n: \"t${tp}.txt\"}\n"
    "make_work: {operator_table: \"${dp}\"}\n"
    "metrics: {cost: \"${dp * iteration_ms}\", twice: cost * 2}\n"
    "require: [memory_gib < 80, \"${twice > seed}\"]\n"
    "objectives: [minimize: cost, {maximize: mfu}]\n";

TEST(ReadSweepTest, ReadsAxesDefinitionsAndRules) {
  const Sweep sweep = ValueOrDie(
      ReadSweep("a/s.yaml", kEveryPart, "folder", testing::kMadePrograms));
  EXPECT_EQ(sweep.name, "night-1");
  EXPECT_EQ(sweep.text, kEveryPart);
  EXPECT_EQ(sweep.folder, "folder");
  ASSERT_EQ(sweep.axes.size(), 2);
  EXPECT_EQ(sweep.axes[0].variables, Texts{"tp"});
  EXPECT_FALSE(sweep.axes[0].has_summary);
  EXPECT_EQ(sweep.axes[0].steps, (std::vector<Texts>{{"2"}, {"4"}}));
  EXPECT_TRUE(sweep.has_repeats);
  EXPECT_EQ(sweep.axes[1].name, "seed");
  EXPECT_EQ(sweep.axes[1].steps, (std::vector<Texts>{{"1"}, {"2"}}));
  ASSERT_EQ(sweep.definitions.size(), 1);
  EXPECT_EQ(sweep.definitions[0].name, "dp");
  EXPECT_EQ(sweep.definitions[0].where, "a/s.yaml:7:7");
  ASSERT_EQ(sweep.rules.size(), 3);
  EXPECT_EQ(sweep.rules[0].expression.text(), "dp > 1");
  EXPECT_FALSE(sweep.rules[0].is_exclusion);
  EXPECT_EQ(sweep.rules[2].expression.text(), "seed == 1");
  EXPECT_TRUE(sweep.rules[2].is_exclusion);
  EXPECT_EQ(sweep.rules[2].where, "a/s.yaml:9:22");
}

TEST(ReadSweepTest, ReadsSectionsMetricsAndObjectives) {
  const Sweep sweep = ValueOrDie(
      ReadSweep("a/s.yaml", kEveryPart, "folder", testing::kMadePrograms));
  // In the order of running, whatever that of the file.
  ASSERT_EQ(sweep.sections.size(), 2);
  EXPECT_EQ(sweep.sections[0].program->name, "make_work");
  ASSERT_EQ(sweep.sections[0].options.size(), 1);
  const SweepOption& table = sweep.sections[0].options[0];
  EXPECT_EQ(table.name, "operator-table");
  EXPECT_TRUE(table.is_file && table.is_list && table.must_exist);
  EXPECT_EQ(table.where, "a/s.yaml:11:29");
  EXPECT_EQ(sweep.run_program().name, "simulate");
  EXPECT_EQ(sweep.sections[1].options[0].name, "topology");
  EXPECT_EQ(sweep.sections[1].options[1].name, "seed");
  ASSERT_EQ(sweep.metrics.size(), 2);
  EXPECT_EQ(sweep.metrics[0].name, "cost");
  EXPECT_EQ(sweep.metrics[0].expression.text(), "dp * iteration_ms");
  ASSERT_EQ(sweep.requirements.size(), 2);
  EXPECT_EQ(sweep.requirements[0].expression.text(), "memory_gib < 80");
  EXPECT_EQ(sweep.requirements[1].expression.text(), "twice > seed");
  EXPECT_EQ(sweep.requirements[1].where, "a/s.yaml:13:28");
  ASSERT_EQ(sweep.objectives.size(), 2);
  EXPECT_EQ(sweep.objectives[0].metric, "cost");
  EXPECT_FALSE(sweep.objectives[0].maximize);
  EXPECT_EQ(sweep.objectives[1].metric, "mfu");
  EXPECT_TRUE(sweep.objectives[1].maximize);
}

TEST(ReadSweepTest, IsNamedAfterItsFileAndMinimisesWhatTheProgramSays) {
  const Sweep sweep = ValueOrDie(ReadSweep("in.to/big.sweep.yaml",
                                           "simai_sweep: 1\ncollective:\n", "",
                                           testing::kMadePrograms));
  EXPECT_EQ(sweep.name, "big.sweep");
  ASSERT_EQ(sweep.objectives.size(), 1);
  EXPECT_EQ(sweep.objectives[0].metric, "time_us");
  EXPECT_FALSE(sweep.objectives[0].maximize);
  EXPECT_FALSE(sweep.has_repeats);
}

TEST(ReadSweepTest, TakesOneObjectiveWithoutAList) {
  const Sweep sweep = Read("run: {}\nobjectives: {maximize: mfu}\n");
  ASSERT_EQ(sweep.objectives.size(), 1);
  EXPECT_TRUE(sweep.objectives[0].maximize);
}

TEST(ReadSweepTest, AllowsWhatDoesNotFitWhereItSaysSo) {
  EXPECT_FALSE(Read("run: {}\n").allows_misfits);
  EXPECT_TRUE(Read("run: {}\nallow: does-not-fit\n").allows_misfits);
  EXPECT_EQ(ErrorOf("allow: all\nrun: {}\n"),
            "2:8: allow is \"all\": expected does-not-fit");
  EXPECT_EQ(ErrorOf("allow:\nrun: {}\n"),
            "3:1: allow is nothing, expected one value");
}

TEST(ReadSweepTest, RefusesWhatIsNoSweep) {
  const auto error = [](std::string_view contents) {
    return std::string(ReadSweep("s.yaml", contents, "", testing::kMadePrograms)
                           .status()
                           .message());
  };
  EXPECT_EQ(error(""), "s.yaml:1:1: a sweep is nothing, expected a mapping");
  EXPECT_EQ(error("run: {}\n"), "s.yaml:1:1: a sweep has no \"simai_sweep\"");
  EXPECT_EQ(error("run: {}\nsimai_sweep: 1\n"),
            "s.yaml:2:14: \"simai_sweep\" is not the first key");
  EXPECT_EQ(error("simai_sweep: 2\n"),
            "s.yaml:1:14: simai_sweep is \"2\": expected a whole number from "
            "1 to 1");
  EXPECT_EQ(ErrorOf("run: {w: ${a}}\n"),
            "2:11: not YAML: end of map flow not found; between { } and [ ], "
            "\"${...}\" stands in quotes");
  EXPECT_EQ(ErrorOf("run: {w: a}}\n"), "2:12: not YAML: illegal flow end");
  EXPECT_EQ(
      ErrorOf("axis: {a: [1]}\nrun: {}\n"),
      "2:7: unknown field of a sweep \"axis\"; did you mean \"axes\"? "
      "(known: allow, axes, collective, constraints, exclude, let, make_topo, "
      "make_work, metrics, name, objectives, repeats, require, run, "
      "simai_sweep, simulate)");
  EXPECT_EQ(ErrorOf("name: a/b\nrun: {}\n"),
            "2:7: name is \"a/b\": expected a \"name\" of at most 64 letters, "
            "digits, '_', '-' and '.'");
  EXPECT_EQ(ErrorOf("name: ..\nrun: {}\n"),
            "2:7: name is \"..\": expected a \"name\" of at most 64 letters, "
            "digits, '_', '-' and '.'");
}

TEST(ReadSweepTest, RefusesNamesThatAreNoneOrThereTwice) {
  EXPECT_EQ(ErrorOf("axes: {micro-batch: [1]}\nrun: {}\n"),
            "2:21: variable \"micro-batch\": expected a name of letters, "
            "digits and '_', not beginning with a digit, and no word of "
            "expressions");
  EXPECT_EQ(ErrorOf("axes: {a: [1], b: [{a: 1}]}\nrun: {}\n"),
            "2:19: variable \"a\" is there twice");
  EXPECT_EQ(ErrorOf("axes: {a: [1]}\nlet: {a: 1}\nrun: {}\n"),
            "3:10: variable \"a\" is there twice");
  EXPECT_EQ(ErrorOf("axes: {seed: [1]}\nrepeats: 2\nrun: {}\n"),
            "3:10: variable \"seed\" is there twice");
  EXPECT_EQ(ErrorOf("axes: {a: [1]}\nmetrics: {a: 1}\nrun: {w: \"${a}\"}\n"),
            "3:14: metric \"a\" has the name of a variable");
  std::string many = "let: {";
  for (int i = 0; i < 257; ++i) many += fmt::format("v{}: 1, ", i);
  EXPECT_EQ(ErrorOf(many + "}\nrun: {}\n"), "2:2207: more than 256 variables");
}

TEST(ReadSweepTest, DefinesVariablesFromThoseBefore) {
  EXPECT_EQ(ErrorOf("let: {a: \"${b}\", b: 1}\nrun: {w: \"${a}\"}\n"),
            "2:10: \"a\" uses \"b\", which is not defined before it");
  EXPECT_EQ(ErrorOf("let: {a: \"${a}\"}\nrun: {w: \"${a}\"}\n"),
            "2:10: \"a\" uses \"a\", which is not defined before it");
  EXPECT_EQ(ErrorOf("let: {a: \"${tpp}\"}\naxes: {tp: [1]}\nrun: {}\n"),
            "2:10: unknown variable \"tpp\"; did you mean \"tp\"? (known: a, "
            "tp)");
  EXPECT_EQ(ErrorOf("let: {a: [1, 2]}\nrun: {}\n"),
            "2:10: \"a\" is a list: expected one value; a list belongs under "
            "\"axes\"");
  EXPECT_EQ(ErrorOf("let: {a: \"${1 +}\"}\nrun: {}\n"),
            "2:10: at character 4 of \"1 +\": found the end, expected a "
            "value, such as a variable, a number or a text in quotes");
}

TEST(ReadSweepTest, RefusesVariablesThatAreNotKnown) {
  const std::string_view known = "; did you mean \"tp\"? (known: tp)";
  EXPECT_EQ(ErrorOf("axes: {tp: [1]}\nrun: {w: \"${tpp}\"}\n"),
            fmt::format("3:10: unknown variable \"tpp\"{}", known));
  EXPECT_EQ(ErrorOf("axes: {tp: [1]}\nexclude: [t == 1]\nrun: {}\n"),
            fmt::format("3:11: unknown variable \"t\"{}; what a run gives is "
                        "known only after it: see \"require\"",
                        known));
}

TEST(ReadSweepTest, RefusesVariablesWithoutEffect) {
  EXPECT_EQ(ErrorOf("axes: {tp: [1], pp: [2]}\nrun: {w: \"${tp}\"}\n"),
            "2:21: \"pp\" has no effect: no option, rule, definition or "
            "metric uses it; write \"${pp}\" where it goes");
  EXPECT_EQ(ErrorOf("let: {gpus: 8}\nrun: {}\n"),
            "2:13: \"gpus\" has no effect: no option, rule, definition or "
            "metric uses it; write \"${gpus}\" where it goes");
  // The columns count, not the sum of them.
  EXPECT_EQ(ErrorOf("axes: {x: [{a: 1, b: 2}]}\nrun: {w: \"${a} ${x}\"}\n"),
            "2:11: \"b\" has no effect: no option, rule, definition or "
            "metric uses it; write \"${b}\" where it goes");
  for (const std::string_view use :
       {"exclude: a == 2", "require: a * mfu > 2", "metrics: {m: a * 2}",
        "make_topo: {g: \"${a}\"}", "let: {b: \"${a}\"}\nexclude: b == 2"}) {
    EXPECT_EQ(ErrorOf(fmt::format("axes: {{a: [1]}}\n{}\nrun: {{}}\n", use)),
              "no error")
        << use;
  }
}

TEST(ReadSweepTest, RefusesRulesThatAreNone) {
  EXPECT_EQ(ErrorOf("exclude: [a: 1]\nrun: {}\n"),
            "2:11: a rule of \"exclude\" is a mapping: expected an "
            "expression, in quotes where it begins with one or holds a \": \"");
  EXPECT_EQ(ErrorOf("constraints: 1 +\nrun: {}\n"),
            "2:14: at character 4 of \"1 +\": found the end, expected a "
            "value, such as a variable, a number or a text in quotes");
  EXPECT_EQ(ErrorOf("require: [1 <]\nrun: {}\n"),
            "2:11: at character 4 of \"1 <\": found the end, expected a "
            "value, such as a variable, a number or a text in quotes");
  EXPECT_EQ(ErrorOf("require: {a: 1}\nrun: {}\n"),
            "2:10: a rule of \"require\" is a mapping: expected an "
            "expression, in quotes where it begins with one or holds a \": \"");
  std::string many = "exclude: [";
  for (int i = 0; i < 1001; ++i) many += "1 > 2, ";
  EXPECT_EQ(ErrorOf(many + "]\nrun: {}\n"),
            "2:10: exclude has 1001 entries: expected at most 1000");
}

TEST(ReadSweepTest, GivesTheSeedToTheRunUnlessItGoesElsewhere) {
  const auto options = [](std::string_view parts) {
    Texts texts;
    const Sweep sweep = Read(parts);
    for (const SweepOption& option : sweep.sections.back().options) {
      texts.push_back(option.name + "=" +
                      *option.value.Fill({{"seed", "5"}, {"s", "6"}}));
    }
    return texts;
  };
  EXPECT_EQ(options("repeats: 2\nsimulate: {}\n"), Texts{"seed=5"});
  EXPECT_EQ(options("repeats: 2\nexclude: seed == 1\nsimulate: {}\n"),
            Texts{"seed=5"});
  EXPECT_EQ(options("repeats: 2\nsimulate: {seed: \"1${seed}\"}\n"),
            Texts{"seed=15"});
  EXPECT_EQ(options("repeats: 2\nlet: {r: \"${seed}\", s: \"${r}\"}\n"
                    "simulate: {seed: \"${s}\"}\n"),
            Texts{"seed=6"});
  EXPECT_EQ(options("repeats: 2\nmake_topo: {g: \"${seed}\"}\nrun: {}\n"),
            Texts{});
  EXPECT_EQ(ErrorOf("repeats: 2\nrun: {}\n"),
            "2:10: the repeats are all the same: run has no --seed; write "
            "\"${seed}\" in an option");
  EXPECT_EQ(ErrorOf("repeats: 2\nsimulate: {seed: 3}\n"),
            "3:18: the repeats are all the same: expected \"${seed}\" in "
            "--seed, or in another option");
}

TEST(ReadSweepTest, ComputesMetricsFromThoseBefore) {
  EXPECT_EQ(ErrorOf("metrics: {a: b, b: time}\nrun: {}\n"),
            "2:14: \"a\" uses \"b\", which is not defined before it");
  EXPECT_EQ(ErrorOf("metrics: {mfu: mfu * 2}\nrun: {}\n"),
            "2:16: \"mfu\" uses \"mfu\", which is not defined before it");
  EXPECT_EQ(ErrorOf("metrics: {a-b: 1}\nrun: {}\n"),
            "2:16: metric \"a-b\": expected a name of letters, digits and "
            "'_', not beginning with a digit, and no word of expressions");
  EXPECT_EQ(ErrorOf("metrics: {a: [1]}\nrun: {}\n"),
            "2:14: \"a\" is a list: expected an expression, in quotes where "
            "it begins with one or holds a \": \"");
}

TEST(ReadSweepTest, RefusesObjectivesThatAreNone) {
  EXPECT_EQ(ErrorOf("objectives: []\nrun: {}\n"),
            "2:13: expected an objective");
  EXPECT_EQ(ErrorOf("objectives: [mfu]\nrun: {}\n"),
            "2:14: an objective is a value, expected a mapping");
  EXPECT_EQ(ErrorOf("objectives: {minimize: a, maximize: b}\nrun: {}\n"),
            "2:13: an objective: expected {minimize: METRIC} or {maximize: "
            "METRIC}");
  EXPECT_EQ(ErrorOf("objectives: {minimise: a}\nrun: {}\n"),
            "2:24: unknown field of an objective \"minimise\"; did you mean "
            "\"minimize\"? (known: maximize, minimize)");
  EXPECT_EQ(ErrorOf("objectives: [minimize: a, maximize: a]\nrun: {}\n"),
            "2:27: two objectives for metric \"a\"");
  EXPECT_EQ(ErrorOf("axes: {a: [1]}\nobjectives: [minimize: a]\n"
                    "run: {w: \"${a}\"}\n"),
            "3:14: \"a\" is a variable, not a metric: give it another name "
            "under \"metrics\"");
}

}  // namespace
}  // namespace astra
