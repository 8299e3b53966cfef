// write_shell_files FOLDER: writes the bash completion and the manual page of
// each program, and the option tables of all, into FOLDER, arranged like share/
// of an installation prefix.

#include <cstdlib>
#include <string>
#include <vector>

#include "astra-core/apps/shell/programs_json.h"
#include "astra-core/apps/shell/shell_programs.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/shell_files.h"
#include "astra-core/command_line/version.h"

namespace astra {
namespace {

absl::Status Write(const std::string& path,
                   const std::vector<NamedFile>& files) {
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder, OutputFolder::Create(path));
  return folder.Write(files);
}

absl::Status Run(int argc, const char* const* argv) {
  if (argc != 2) {
    return absl::InvalidArgumentError("usage: write_shell_files FOLDER");
  }
  const std::string folder = argv[1];
  std::vector<NamedFile> completions;
  std::vector<NamedFile> pages;
  const std::vector<ShellProgram> programs = ShellPrograms();
  for (const ShellProgram& program : programs) {
    const std::string name(program.name);
    completions.push_back({name, BashCompletion(program)});
    pages.push_back({name + ".1", ManPage(program, Version())});
  }
  ASTRA_RETURN_IF_ERROR(
      Write(folder + "/bash-completion/completions", completions));
  ASTRA_RETURN_IF_ERROR(Write(folder + "/man/man1", pages));
  return Write(folder + "/simai-cpp",
               {{"programs.json", ProgramsJson(programs, Version())}});
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("write_shell_files");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv), log); });
}
