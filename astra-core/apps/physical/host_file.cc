#include "astra-core/apps/physical/host_file.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMostSlots = 65536;

// Holds one line of a host file. `slots` is empty if the line has none.
struct HostLine {
  RankPlace place;
  std::optional<int64_t> slots;
};

absl::Status ReadSetting(const TextReader& reader, const Token& token,
                         HostLine& host) {
  const size_t equals = token.text.find('=');
  const std::string_view key = token.text.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? "" : token.text.substr(equals + 1);
  const bool is_repeated = (key == "address" && !host.place.address.empty()) ||
                           (key == "device" && !host.place.devices.empty()) ||
                           (key == "slots" && host.slots);
  if (is_repeated) {
    return reader.Error(token, fmt::format("{} is given twice", key));
  }
  if (key == "address" && !value.empty()) {
    host.place.address = std::string(value);
    return absl::OkStatus();
  }
  if (key == "device" && !value.empty()) {
    host.place.devices = std::string(value);
    return absl::OkStatus();
  }
  if (key == "slots" && equals != std::string_view::npos) {
    const auto slots = ParseInteger("", value, 1, kMostSlots);
    if (slots.ok()) {
      host.slots = *slots;
      return absl::OkStatus();
    }
    return reader.Error(
        token, fmt::format("slots is {}: expected a whole number from 1 to {}",
                           Quoted(value), kMostSlots));
  }
  return reader.Error(token, fmt::format("expected slots=N, address=ADDRESS or "
                                         "device=NAME, not {}",
                                         Quoted(token.text)));
}

// Reads the tokens before a comment.
absl::StatusOr<HostLine> ReadHost(const TextReader& reader,
                                  absl::Span<const Token> tokens) {
  HostLine host;
  if (tokens.front().text.find('=') != std::string_view::npos) {
    return reader.Error(tokens.front(),
                        "a line begins with the name of a host");
  }
  if (tokens.front().text.front() == '-') {
    return reader.Error(
        tokens.front(),
        fmt::format("{} is no name of a host: a remote shell would take it for "
                    "an option",
                    Quoted(tokens.front().text)));
  }
  host.place.host = std::string(tokens.front().text);
  for (const Token& token : tokens.subspan(1)) {
    ASTRA_RETURN_IF_ERROR(ReadSetting(reader, token, host));
  }
  return host;
}

absl::Span<const Token> WithoutComment(absl::Span<const Token> tokens) {
  size_t count = 0;
  while (count < tokens.size() && tokens[count].text.front() != '#') ++count;
  return tokens.first(count);
}

}  // namespace

absl::StatusOr<std::vector<RankPlace>> ParseHostFile(std::string_view file,
                                                     std::string_view contents,
                                                     uint32_t num_ranks) {
  std::vector<RankPlace> places;
  int64_t num_slots = 0;
  TextReader reader(file, contents);
  while (reader.NextLine()) {
    const absl::Span<const Token> tokens = WithoutComment(reader.tokens());
    if (tokens.empty()) continue;
    ASTRA_ASSIGN_OR_RETURN(const HostLine host, ReadHost(reader, tokens));
    const int64_t slots = host.slots.value_or(1);
    num_slots += slots;
    for (int64_t i = 0; i < slots && places.size() < num_ranks; ++i) {
      places.push_back(host.place);
      places.back().local_rank = static_cast<uint32_t>(i);
    }
  }
  if (places.size() == num_ranks) return places;
  return absl::InvalidArgumentError(fmt::format(
      "{}: {} slots are too few for {} ranks", file, num_slots, num_ranks));
}

}  // namespace astra
