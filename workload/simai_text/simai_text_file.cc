#include "workload/simai_text/simai_text_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"
#include "fmt/ranges.h"
#include "workload/parallel_plan.h"
#include "workload/simai_text/communication_name.h"

namespace astra {
namespace {

// Limits that keep nanoseconds within 2^63 picoseconds, and sums of sizes
// within 64 bits.
constexpr int64_t kMaxNanoseconds = 1'000'000'000'000'000;
constexpr int64_t kMaxBytes = int64_t{1} << 50;
constexpr int64_t kMaxSize = int64_t{1} << 24;

constexpr SimaiPolicy kExecutedPolicies[] = {
    SimaiPolicy::kHybridTransformer, SimaiPolicy::kHybridTransformerFwdInBckwd};
constexpr std::string_view kOtherPolicies[] = {
    "DATA",
    "DISTRIBUTED_INFERENCE",
    "HYBRID_CUSTOMIZED",
    "HYBRID_DATA_MODEL",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "HYBRID_MODEL_DATA",
    "MICRO",
    "MODEL",
};

class Parser {
 public:
  Parser(std::string_view file, std::string_view contents)
      : file_(file), reader_(file, contents) {}

  absl::StatusOr<SimaiText> Parse() {
    ASTRA_RETURN_IF_ERROR(ReadHeader());
    ASTRA_ASSIGN_OR_RETURN(const int64_t num_layers, ReadLayerCount());
    for (int64_t i = 0; i < num_layers; ++i) {
      if (!reader_.NextLine()) {
        return reader_.ErrorAtEnd(
            fmt::format("{} layers, but line 2 says {}", i, num_layers));
      }
      ASTRA_RETURN_IF_ERROR(ReadLayer());
    }
    ASTRA_RETURN_IF_ERROR(ExpectEnd(num_layers));
    return std::move(text_);
  }

  // Adds to an error of ProgramOf() the place in the text.
  absl::Status At(const absl::Status& mistake) const {
    return reader_.Error(PlaceOf(FieldOf(mistake)),
                         std::string(mistake.message()));
  }

  // Reports the words without effect, a line for each kind, ordered by its
  // text.
  void Report(Warnings* warnings) const {
    for (const auto& [text, seen] : oddities_) {
      std::string line =
          fmt::format("{}:{}:{}: {}", file_, seen.line, seen.column, text);
      if (seen.count > 1) line += fmt::format(" ({} times)", seen.count);
      warnings->push_back(std::move(line));
    }
  }

 private:
  struct Oddity {
    uint32_t line;
    uint32_t column;
    int64_t count;
  };

  void Note(const Token& token, std::string text) {
    const auto [seen, _] = oddities_.try_emplace(
        std::move(text), Oddity{token.line, token.column, 0});
    ++seen->second.count;
  }

  // Returns the header key for a field of Program::Create; the policy if there
  // is none.
  Token PlaceOf(std::string_view field) const {
    std::string key(field.substr(field.find('.') + 1));
    key = key == "gpus" ? "all_gpus:" : key + ':';
    const auto found = keys_.find(key);
    if (found != keys_.end()) return found->second;
    return {.text = "", .line = 1, .column = 1};
  }

  absl::StatusOr<int64_t> Integer(std::string_view what, const Token& token,
                                  int64_t min, int64_t max) const {
    absl::StatusOr<int64_t> value = ParseInteger(what, token.text, min, max);
    if (value.ok()) return value;
    return reader_.Error(token, std::string(value.status().message()));
  }

  absl::Status ReadHeader() {
    if (!reader_.NextLine() || reader_.tokens().empty()) {
      return reader_.ErrorAtEnd(
          "expected a policy, such as HYBRID_TRANSFORMER");
    }
    ASTRA_RETURN_IF_ERROR(ReadPolicy(reader_.tokens()[0]));
    for (size_t next = 1; next < reader_.tokens().size();) {
      const Token& key = reader_.tokens()[next];
      // "pp_comm" and "pp_comm:" are one key.
      const std::string_view name =
          key.text == "pp_comm" ? std::string_view("pp_comm:") : key.text;
      if (!keys_.emplace(name, key).second) {
        return reader_.Error(
            key, fmt::format("{} is given twice", Quoted(key.text)));
      }
      ASTRA_RETURN_IF_ERROR(ReadKey(key, &next));
    }
    return CheckKeys();
  }

  absl::Status ReadPolicy(const Token& token) {
    std::vector<std::string_view> known(std::begin(kOtherPolicies),
                                        std::end(kOtherPolicies));
    for (const SimaiPolicy policy : kExecutedPolicies) {
      if (token.text == Name(policy)) {
        text_.policy = policy;
        return absl::OkStatus();
      }
      known.push_back(Name(policy));
    }
    const bool is_other =
        std::find(std::begin(kOtherPolicies), std::end(kOtherPolicies),
                  token.text) != std::end(kOtherPolicies);
    if (!is_other) {
      return reader_.Error(token, UnknownName("policy", token.text, known));
    }
    const absl::Status error = reader_.Error(
        token, fmt::format("policy {} is not executed yet; executed are {} and "
                           "{}",
                           token.text, Name(kExecutedPolicies[0]),
                           Name(kExecutedPolicies[1])));
    return absl::UnimplementedError(error.message());
  }

  // Reads a key and its values; moves `next` behind them.
  absl::Status ReadKey(const Token& key, size_t* next) {
    const std::pair<std::string_view, int64_t*> sizes[] = {
        {"model_parallel_NPU_group:", &text_.sizes.tensor},
        {"ep:", &text_.sizes.expert},
        {"pp:", &text_.sizes.pipeline},
        {"vpp:", &text_.sizes.virtual_stages},
        {"ga:", &text_.sizes.micro_batches},
        {"all_gpus:", &text_.sizes.num_ranks},
    };
    ++*next;
    for (const auto& [name, size] : sizes) {
      if (key.text != name) continue;
      ASTRA_ASSIGN_OR_RETURN(const Token value, ValueOf(key, next));
      ASTRA_ASSIGN_OR_RETURN(*size, Integer(name, value, 1, kMaxSize));
      return absl::OkStatus();
    }
    if (key.text == "etp:") {
      ASTRA_ASSIGN_OR_RETURN(const Token value, ValueOf(key, next));
      ASTRA_ASSIGN_OR_RETURN(text_.sizes.expert_tensor,
                             Integer(key.text, value, 1, kMaxSize));
      return absl::OkStatus();
    }
    if (key.text == "checkpoints:") {
      return ReadLayerList(key, next, text_.checkpoints);
    }
    if (key.text == "checkpoint_initiates:") {
      return ReadLayerList(key, next, text_.recompute_starts);
    }
    if (key.text == "pp_comm:" || key.text == "pp_comm") {
      return ReadPipelineMessage(key, next);
    }
    Note(key,
         fmt::format("{} is not known and has no effect", Quoted(key.text)));
    while (*next < reader_.tokens().size() &&
           !IsKey(reader_.tokens()[*next].text)) {
      ++*next;  // Skips its values.
    }
    return absl::OkStatus();
  }

  static bool IsKey(std::string_view text) {
    return text.back() == ':' || text == "pp_comm";
  }

  absl::StatusOr<Token> ValueOf(const Token& key, size_t* next) const {
    if (*next >= reader_.tokens().size()) {
      return reader_.ErrorAtEnd(
          fmt::format("expected a value after \"{}\"", key.text));
    }
    return reader_.tokens()[(*next)++];
  }

  absl::Status ReadLayerList(const Token& key, size_t* next,
                             std::vector<uint32_t>& layers) {
    ASTRA_ASSIGN_OR_RETURN(const Token count_token, ValueOf(key, next));
    ASTRA_ASSIGN_OR_RETURN(const int64_t count,
                           Integer(key.text, count_token, 0, kMaxSimaiLayers));
    for (int64_t i = 0; i < count; ++i) {
      ASTRA_ASSIGN_OR_RETURN(const Token token, ValueOf(key, next));
      ASTRA_ASSIGN_OR_RETURN(
          const int64_t layer,
          Integer("the number of a layer", token, 0, kMaxSimaiLayers));
      layers.push_back(static_cast<uint32_t>(layer));
    }
    if (text_.policy == SimaiPolicy::kHybridTransformer && count > 0) {
      Note(key, fmt::format("\"{}\" has no effect with policy {}", key.text,
                            Name(text_.policy)));
      layers.clear();
    }
    std::sort(layers.begin(), layers.end());
    return absl::OkStatus();
  }

  // AICB writes some of these sizes as "10485760.0".
  absl::Status ReadPipelineMessage(const Token& key, size_t* next) {
    ASTRA_ASSIGN_OR_RETURN(Token value, ValueOf(key, next));
    constexpr std::string_view kZeroDecimals = ".0";
    const size_t point = value.text.find(kZeroDecimals);
    if (point != std::string_view::npos &&
        point + kZeroDecimals.size() == value.text.size()) {
      value.text = value.text.substr(0, point);
    }
    ASTRA_ASSIGN_OR_RETURN(const int64_t bytes,
                           Integer(key.text, value, 0, kMaxBytes));
    text_.pipeline_message = Bytes(bytes);
    return absl::OkStatus();
  }

  absl::Status CheckKeys() {
    for (const std::string_view key :
         {"model_parallel_NPU_group:", "all_gpus:"}) {
      if (keys_.count(key) == 0) {
        return reader_.ErrorAtEnd(fmt::format("\"{}\" is missing", key));
      }
    }
    const Token& policy = reader_.tokens()[0];
    for (const std::string_view key : {"ep:", "pp:", "vpp:", "ga:"}) {
      if (keys_.count(key) == 0) {
        Note(policy, fmt::format("\"{}\" is missing and taken to be 1", key));
      }
    }
    SpreadExperts();
    const bool has_message = text_.pipeline_message > Bytes(0);
    const int64_t stages = text_.sizes.pipeline;
    if (stages == 1 && has_message) {
      Note(policy, "\"pp_comm:\" has no effect with one pipeline stage");
    }
    if (stages > 1 && !has_message) {
      Note(policy, fmt::format("{} pipeline stages exchange messages of 0 "
                               "bytes: \"pp_comm:\" is 0 or missing",
                               stages));
    }
    return absl::OkStatus();
  }

  // AICB's inference files have more expert-parallel than data-parallel ranks:
  // their experts are spread over TP instead of being split over it.
  void SpreadExperts() {
    ParallelSizes& sizes = text_.sizes;
    if (sizes.expert_tensor || ParallelPlan::Create(sizes).ok()) return;
    ParallelSizes spread = sizes;
    spread.expert_tensor = 1;
    if (!ParallelPlan::Create(spread).ok()) return;
    sizes = spread;
    Note(reader_.tokens()[0],
         fmt::format("EP {} does not divide DP: the experts are taken to be "
                     "spread over TP as well (\"etp: 1\")",
                     sizes.expert));
  }

  absl::StatusOr<int64_t> ReadLayerCount() {
    if (!reader_.NextLine() || reader_.tokens().empty()) {
      return reader_.ErrorAtEnd("expected the number of layers");
    }
    if (reader_.tokens().size() > 1) {
      return reader_.Error(reader_.tokens()[1],
                           fmt::format("unexpected {} after the number of "
                                       "layers",
                                       Quoted(reader_.tokens()[1].text)));
    }
    return Integer("the number of layers", reader_.tokens()[0], 1,
                   kMaxSimaiLayers);
  }

  absl::StatusOr<TimePs> Time(std::string_view what, const Token& token) const {
    ASTRA_ASSIGN_OR_RETURN(const int64_t ns,
                           Integer(what, token, 0, kMaxNanoseconds));
    return Nanoseconds(ns);
  }

  absl::Status ReadLayer() {
    constexpr size_t kNumColumns = 12;
    const absl::Span<const Token> columns = reader_.tokens();
    if (columns.size() < kNumColumns) {
      return reader_.ErrorAtEnd(
          fmt::format("{} columns, expected {}", columns.size(), kNumColumns));
    }
    if (columns.size() > kNumColumns) {
      return reader_.Error(
          columns[kNumColumns],
          fmt::format("unexpected {} after the {} columns of a layer",
                      Quoted(columns[kNumColumns].text), kNumColumns));
    }
    SimaiLayer layer;
    layer.name = columns[0].text;
    if (columns[1].text != "-1") {
      ASTRA_RETURN_IF_ERROR(
          Integer("the dependency", columns[1], -1, kMaxSimaiLayers).status());
      Note(columns[1], "a dependency other than -1 has no effect");
    }
    for (const Phase phase : kPhases) {
      ASTRA_RETURN_IF_ERROR(
          ReadPhase(columns.subspan(2 + 3 * IndexOf(phase), 3), phase,
                    layer.phases[IndexOf(phase)]));
    }
    ASTRA_ASSIGN_OR_RETURN(layer.update, Time("the update time", columns[11]));
    text_.layers.push_back(std::move(layer));
    return absl::OkStatus();
  }

  absl::Status ReadPhase(absl::Span<const Token> columns, Phase phase,
                         SimaiPhase& result) {
    ASTRA_ASSIGN_OR_RETURN(result.compute,
                           Time("the compute time in ns", columns[0]));
    ASTRA_ASSIGN_OR_RETURN(
        const int64_t bytes,
        Integer("the size in bytes", columns[2], 0, kMaxBytes));
    if (columns[1].text == kNoCommunication) {
      if (bytes != 0) Note(columns[2], "a size beside NONE has no effect");
      return absl::OkStatus();
    }
    result.communication = FindCommunication(columns[1].text, phase);
    if (!result.communication) {
      const std::vector<std::string> names = CommunicationNames();
      const std::vector<std::string_view> known(names.begin(), names.end());
      return reader_.Error(
          columns[1], UnknownName("communication", columns[1].text, known));
    }
    result.communication->bytes = Bytes(bytes);
    if (bytes == 0) {
      Note(columns[1],
           fmt::format("{} of 0 bytes does nothing", columns[1].text));
    }
    return absl::OkStatus();
  }

  absl::Status ExpectEnd(int64_t num_layers) {
    while (reader_.NextLine()) {
      if (!reader_.tokens().empty()) {
        return reader_.Error(
            reader_.tokens()[0],
            fmt::format("more layers than the {} that line 2 says",
                        num_layers));
      }
    }
    return absl::OkStatus();
  }

  std::string_view file_;
  TextReader reader_;
  SimaiText text_;
  std::map<std::string_view, Token> keys_;  // Header keys by name.
  std::map<std::string, Oddity> oddities_;  // By the text of the warning.
};

std::string FormatLayers(absl::Span<const uint32_t> layers) {
  std::string text = fmt::format("{}", layers.size());
  for (const uint32_t layer : layers) text += fmt::format(" {}", layer);
  return text;
}

}  // namespace

absl::StatusOr<SimaiText> ParseSimaiText(std::string_view file,
                                         std::string_view contents,
                                         Warnings* warnings) {
  Parser parser(file, contents);
  absl::StatusOr<SimaiText> text = parser.Parse();
  if (text.ok()) parser.Report(warnings);
  return text;
}

absl::StatusOr<Program> ParseSimaiProgram(std::string_view file,
                                          std::string_view contents,
                                          Warnings* warnings) {
  Parser parser(file, contents);
  ASTRA_ASSIGN_OR_RETURN(const SimaiText text, parser.Parse());
  absl::StatusOr<Program> program = ProgramOf(text);
  if (!program.ok()) return parser.At(program.status());
  parser.Report(warnings);
  return program;
}

std::string FormatSimaiText(const SimaiText& simai) {
  const ParallelSizes& sizes = simai.sizes;
  std::string text;
  AppendFormat(
      &text,
      "{} model_parallel_NPU_group: {} ep: {}{} pp: {} vpp: {} ga: "
      "{} all_gpus: {} checkpoints: {} checkpoint_initiates: {} "
      "pp_comm: {}\n{}\n",
      Name(simai.policy), sizes.tensor, sizes.expert,
      sizes.expert_tensor ? fmt::format(" etp: {}", *sizes.expert_tensor) : "",
      sizes.pipeline, sizes.virtual_stages, sizes.micro_batches,
      sizes.num_ranks, FormatLayers(simai.checkpoints),
      FormatLayers(simai.recompute_starts), simai.pipeline_message.count(),
      simai.layers.size());
  constexpr int64_t kPsPerNs = 1000;
  for (const SimaiLayer& layer : simai.layers) {
    AppendFormat(&text, "{}\t-1", layer.name);
    for (const Phase phase : kPhases) {
      const auto& [compute, communication] = layer.phase(phase);
      AppendFormat(&text, "\t{}\t{}\t{}", compute.count() / kPsPerNs,
                   communication ? NameOf(*communication, phase)
                                 : std::string(kNoCommunication),
                   communication ? communication->bytes.count() : 0);
    }
    AppendFormat(&text, "\t{}\n", layer.update.count() / kPsPerNs);
  }
  return text;
}

}  // namespace astra
