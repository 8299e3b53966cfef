// Starts the ranks of a run on their hosts, and ends them.

#ifndef ASTRA_CORE_APPS_PHYSICAL_LAUNCHER_H_
#define ASTRA_CORE_APPS_PHYSICAL_LAUNCHER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/apps/physical/host_file.h"

namespace astra {

// Returns the command that starts a rank with `words` at `place`. This host is
// named localhost; for another, `remote_shell` and its name come first, and the
// words are those of its shell.
std::vector<std::string> CommandAt(const RankPlace& place,
                                   const std::vector<std::string>& remote_shell,
                                   const std::vector<std::string>& words);

class RankProcesses {
 public:
  RankProcesses() = default;
  ~RankProcesses();  // Kills those that still run.
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // Starts the next rank, which reads `input` from its standard input. It dies
  // with this process.
  //
  // Errors: Internal, with the reason.
  absl::Status Start(std::vector<std::string> command, std::string host,
                     const std::string& input);

  // Errors: Aborted, with the rank, its host and the reason, if a process has
  // ended with an error since the last call.
  absl::Status Watch();

  // Waits until all have ended, but not longer than `longest`.
  void AwaitEnd(std::chrono::milliseconds longest);

 private:
  struct Process {
    pid_t pid = 0;  // 0 once it has ended.
    std::string host;
    std::string program;
  };

  std::vector<Process> processes_;  // By rank.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_LAUNCHER_H_
