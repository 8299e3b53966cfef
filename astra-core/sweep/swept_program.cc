#include "astra-core/sweep/swept_program.h"

#include <algorithm>
#include <vector>

#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

std::vector<std::string_view> Split(std::string_view words) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (end > 0) parts.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return parts;
}

// Returns an option's name without dashes before it and with '-' for '_':
// "g-p-s" for "--g_p_s".
std::string Canonical(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string canonical(name);
  std::replace(canonical.begin(), canonical.end(), '_', '-');
  return canonical;
}

}  // namespace

const OptionSpec* FindOption(const SweptProgram& program,
                             std::string_view name) {
  const std::string canonical = Canonical(name);
  const auto is_it = [&](std::string_view spelling) {
    return Canonical(spelling) == canonical;
  };
  for (const OptionSpec& option : program.options) {
    const std::vector<std::string_view> aliases = Split(option.aliases);
    if (is_it(option.name) ||
        std::any_of(aliases.begin(), aliases.end(), is_it)) {
      return &option;
    }
  }
  return nullptr;
}

std::string WhyRefused(const SweptProgram& program, std::string_view spelling) {
  const std::string canonical = Canonical(spelling);
  const OptionSpec* option = FindOption(program, canonical);
  const std::string_view name = option != nullptr ? option->name : canonical;
  constexpr std::string_view kList = "list-";
  const bool is_common = name == "help" || name == "h" || name == "version";
  const std::vector<std::string_view> refused = Split(program.refused);
  if (!is_common &&
      std::find(refused.begin(), refused.end(), name) == refused.end()) {
    return "";
  }
  if (name == "output" || name == "result") {
    return fmt::format("the sweep itself gives --{}", name);
  }
  if (is_common || name.substr(0, kList.size()) == kList) {
    return fmt::format("--{} prints and stops: it cannot be swept",
                       name == "h" ? "help" : name);
  }
  return fmt::format("--{} cannot be swept", name);
}

std::string UnknownOptionOf(const SweptProgram& program,
                            std::string_view name) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> aliases;
  for (const OptionSpec& option : program.options) {
    if (!WhyRefused(program, option.name).empty()) continue;
    names.push_back(option.name);
    const std::vector<std::string_view> others = Split(option.aliases);
    aliases.insert(aliases.end(), others.begin(), others.end());
  }
  return UnknownName(fmt::format("option of {}", program.name), Canonical(name),
                     names, aliases);
}

}  // namespace astra
