// Prints messages of a program that are not results: one line each, on stderr.

#ifndef ASTRA_CORE_BASE_LOG_H_
#define ASTRA_CORE_BASE_LOG_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

// Observations of a reader or a check that are odd but not errors. They are
// values, so that libraries print nothing and tests can compare them. Each is
// one line without a full stop.
using Warnings = std::vector<std::string>;

class Log {
 public:
  // Lines begin with "PROGRAM: ". `program` must outlive the log.
  explicit Log(std::string_view program, std::FILE* out = stderr)
      : program_(program), out_(out) {}

  std::string_view program() const { return program_; }

  void Error(std::string_view message) const { Print("error", message); }
  void Warning(std::string_view message) const { Print("warning", message); }
  void Report(const Warnings& warnings) const {
    for (const std::string& warning : warnings) Warning(warning);
  }

 private:
  void Print(std::string_view level, std::string_view message) const;

  std::string_view program_;
  std::FILE* out_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_LOG_H_
