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

// Returns the command that runs `words` at `place`. On localhost these are the
// words themselves. For another host they are quoted for its shell, after
// `remote_shell` and the name of the host.
std::vector<std::string> CommandAt(const RankPlace& place,
                                   const std::vector<std::string>& remote_shell,
                                   const std::vector<std::string>& words);

class RankProcesses {
 public:
  RankProcesses() = default;
  ~RankProcesses();  // Kills the processes that still run.
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // Starts the process of the next rank, with `input` as its standard input.
  // The kernel ends it when this process ends.
  //
  // Errors: Internal, with the reason.
  absl::Status Start(std::vector<std::string> command, std::string host,
                     const std::string& input);

  // Returns the error Aborted, with the rank, its host and the reason, if a
  // process has ended with an error since the last call.
  absl::Status Watch();

  // Waits until all processes have ended, but not longer than `longest`.
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
