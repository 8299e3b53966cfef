#include "astra-core/apps/shell/programs_json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "astra-core/apps/shell/simai_options.h"
#include "astra-core/base/check.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::ordered_json;

Json KnownValues(const ShellProgram& program, std::string_view option) {
  Json names = Json::array();
  for (const ShellValues& values : program.values) {
    if (values.option != option) continue;
    for (const ShellTerm& value : values.values) names.push_back(value.name);
  }
  return names;
}

Json OptionsJson(const ShellProgram& program,
                 absl::Span<const OptionSpec> options) {
  Json list = Json::array();
  for (const OptionSpec& option : WithCommonOptions(options)) {
    const std::vector<std::string> aliases =
        absl::StrSplit(std::string(option.aliases), ' ', absl::SkipEmpty());
    list.push_back({{"name", option.name},
                    {"aliases", aliases},
                    {"value", option.value},
                    {"group", option.group},
                    {"help", option.help},
                    {"values", KnownValues(program, option.name)}});
  }
  return list;
}

Json CommandsJson(const ShellProgram& program) {
  Json list = Json::array();
  for (const ShellCommand& command : program.commands) {
    list.push_back({{"name", command.name},
                    {"summary", command.help},
                    {"operands", command.operands},
                    {"options", OptionsJson(program, command.options)}});
  }
  return list;
}

// Returns the second paragraph of the help as one line.
std::string Description(const ShellProgram& program) {
  const std::vector<std::string> paragraphs =
      absl::StrSplit(program.help, "\n\n");
  ASTRA_CHECK(paragraphs.size() >= 2, "the help of {} says too little",
              program.name);
  return absl::StrReplaceAll(paragraphs[1], {{"\n", " "}});
}

Json ProgramJson(const SimaiCommand& command, const ShellProgram& program) {
  const bool has_commands = !program.commands.empty();
  return {{"name", program.name},
          {"command", command.name},
          {"summary", command.help},
          {"description", Description(program)},
          {"operands", program.operands},
          {"options", has_commands ? Json::array()
                                   : OptionsJson(program, program.options)},
          {"commands", CommandsJson(program)}};
}

}  // namespace

std::string ProgramsJson(absl::Span<const ShellProgram> programs,
                         std::string_view version) {
  Json list = Json::array();
  for (const SimaiCommand& command : SimaiCommands()) {
    const auto* program = std::find_if(
        programs.begin(), programs.end(), [&command](const auto& candidate) {
          return candidate.name == command.program;
        });
    ASTRA_CHECK(program != programs.end(), "{} is not described",
                command.program);
    list.push_back(ProgramJson(command, *program));
  }
  return Json({{"version", version}, {"programs", std::move(list)}}).dump(1) +
         "\n";
}

}  // namespace astra
