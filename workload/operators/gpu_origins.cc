#include "workload/operators/gpu_origins.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kGrades[] = {"stated", "measured", "derived",
                                        "guessed"};

// The fields of a file that are no constants.
constexpr std::string_view kWords[] = {"name",         "aliases", "source",
                                       "architecture", "origins", "origin",
                                       "calibration"};

// The constants of a file, and the keys of its mappings of constants.
struct Constants {
  std::vector<std::string> names;
  std::set<std::string> groups;
};

// Returns the key of the mapping that has the constant; "" if there is none.
std::string GroupOf(const std::string& constant) {
  const size_t dot = constant.find('.');
  return dot == std::string::npos ? "" : constant.substr(0, dot);
}

void AddConstants(YamlFields& fields, Constants& constants) {
  for (const std::string& key : fields.keys()) {
    if (std::find(std::begin(kWords), std::end(kWords), key) !=
        std::end(kWords)) {
      continue;
    }
    const YamlValue& value = *fields.Value(key);
    if (value.kind != YamlValue::Kind::kMap) {
      constants.names.push_back(key);
      continue;
    }
    constants.groups.insert(key);
    for (const YamlField& field : value.children) {
      constants.names.push_back(fmt::format("{}.{}", key, field.key));
    }
  }
}

// Checks one name of the list `of`.
void CheckName(YamlFields& entry, const std::string& name,
               const Constants& constants, std::set<std::string>& named) {
  std::vector<std::string_view> known(constants.names.begin(),
                                      constants.names.end());
  known.insert(known.end(), constants.groups.begin(), constants.groups.end());
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    std::sort(known.begin(), known.end());
    entry.Error("of", UnknownName("constant", name, known));
  } else if (!named.insert(name).second) {
    entry.Error("of", fmt::format("{} has two origins", name));
  }
}

}  // namespace

std::string_view Name(OriginGrade grade) {
  return kGrades[static_cast<size_t>(grade)];
}

std::vector<ConstantOrigin> ReadOrigins(YamlFields& fields,
                                        std::vector<YamlFields> entries) {
  std::vector<ConstantOrigin> origins;
  if (entries.empty()) return origins;
  Constants constants;
  AddConstants(fields, constants);
  YamlFields calibration = fields.Map("calibration", "calibration");
  AddConstants(calibration, constants);
  std::set<std::string> named;
  for (YamlFields& entry : entries) {
    ConstantOrigin origin;
    origin.grade = static_cast<OriginGrade>(entry.Choice("grade", kGrades));
    origin.source = entry.Text("source");
    origin.constants = entry.Texts("of");
    entry.Close();
    for (const std::string& name : origin.constants) {
      CheckName(entry, name, constants, named);
    }
    origins.push_back(std::move(origin));
  }
  for (const std::string& name : constants.names) {
    if (named.count(name) + named.count(GroupOf(name)) > 0) continue;
    fields.Error("origins", fmt::format("{} has no origin", name));
  }
  return origins;
}

}  // namespace astra
