#include "workload/vidur/vidur_profile.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kUsPerMs = 1e3;
constexpr double kLeastUs = 1e-3;
constexpr double kMaxMs = 1e6;
constexpr double kMaxSize = int64_t{1} << 40;

using Sizes = std::vector<double>;  // In the order of Form::sizes.

// An operator of a table.
struct Timed {
  VidurOperator which;
  std::string column;
  bool is_optional = false;
  std::vector<std::string> features;
  // Returns the features of a row; none if the row is not of this operator.
  std::optional<std::vector<double>> (*features_of)(const Sizes&);
};

// Rows that are read have `value` in a column.
struct Wanted {
  std::string_view column;
  double value;
};

struct Form {
  std::vector<Wanted> wanted;
  std::string_view text_column;  // Likewise, for a column of text; or empty.
  std::string_view text;
  std::vector<std::string_view> sizes;  // Columns that features come from.
  std::vector<Timed> timed;
  std::vector<std::string> unused;  // Columns that are known.
};

std::string_view NameOf(VidurOperator which) {
  return kVidurOperatorNames[static_cast<size_t>(which)];
}

std::optional<std::vector<double>> FirstSize(const Sizes& sizes) {
  return std::vector<double>{sizes[0]};
}

// The sizes of attention.
constexpr size_t kBatch = 0, kChunk = 1, kCached = 2;

std::optional<std::vector<double>> SavedTokens(const Sizes& sizes) {
  return std::vector<double>{std::max(sizes[kBatch], sizes[kChunk])};
}
std::optional<std::vector<double>> Prefill(const Sizes& sizes) {
  if (sizes[kChunk] == 0) return std::nullopt;
  return std::vector<double>{sizes[kCached], sizes[kChunk] * sizes[kChunk]};
}
std::optional<std::vector<double>> Decode(const Sizes& sizes) {
  if (sizes[kChunk] != 0) return std::nullopt;
  return std::vector<double>{sizes[kBatch], sizes[kCached]};
}

std::string MedianColumn(VidurOperator which) {
  return fmt::format("time_stats.{}.median", NameOf(which));
}

void AddStatistics(std::string_view prefix, std::string_view separator,
                   std::vector<std::string>* names) {
  for (const char* of : {"min", "max", "mean", "median", "std"}) {
    names->push_back(fmt::format("{}{}{}", prefix, separator, of));
  }
}

Form ComputeForm(const VidurReplica& replica) {
  const VidurModel& model = replica.model;
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  Form form;
  form.wanted = {{"num_tensor_parallel_workers", number(replica.tensor)},
                 {"n_head", number(model.heads)},
                 {"n_kv_head", number(model.kv_heads)},
                 {"n_embd", number(model.hidden)},
                 {"n_expanded_embd", number(model.expanded)},
                 {"vocab_size", number(model.vocabulary)},
                 {"use_gated_mlp", model.gated ? 1.0 : 0.0}};
  form.sizes = {"num_tokens"};
  for (size_t i = 0; i <= static_cast<size_t>(VidurOperator::kAdd); ++i) {
    const auto which = static_cast<VidurOperator>(i);
    const bool is_optional = which == VidurOperator::kAdd ||
                             which == VidurOperator::kInputLayernorm ||
                             which == VidurOperator::kPostAttentionLayernorm;
    if (which == VidurOperator::kPostAttentionLayernorm &&
        !model.post_attention_norm) {
      AddStatistics("time_stats.post_attention_layernorm", ".", &form.unused);
      continue;
    }
    form.timed.push_back(
        {which, MedianColumn(which), is_optional, {"num_tokens"}, FirstSize});
  }
  AddStatistics("time_stats.emb", ".", &form.unused);
  return form;
}

Form AttentionForm(const VidurReplica& replica) {
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  Form form;
  form.wanted = {{"num_tensor_parallel_workers", number(replica.tensor)},
                 {"n_embd", number(replica.model.hidden)},
                 {"n_q_head", number(replica.model.heads)},
                 {"n_kv_head", number(replica.model.kv_heads)},
                 {"block_size", number(replica.block_tokens)}};
  form.sizes = {"batch_size", "prefill_chunk_size", "kv_cache_size"};
  const auto add = [&](VidurOperator which, bool is_optional,
                       std::vector<std::string> features, auto features_of) {
    form.timed.push_back({which, MedianColumn(which), is_optional,
                          std::move(features), features_of});
  };
  add(VidurOperator::kAttnKvCacheSave, true, {"num_tokens"}, SavedTokens);
  add(VidurOperator::kAttnPrefill, false,
      {"kv_cache_size", "prefill_chunk_size_squared"}, Prefill);
  add(VidurOperator::kAttnDecode, false, {"batch_size", "kv_cache_size"},
      Decode);
  form.unused = {"max_model_len", "is_prefill", "attention_backend"};
  AddStatistics("time_stats.attn_input_reshape", ".", &form.unused);
  AddStatistics("time_stats.attn_output_reshape", ".", &form.unused);
  return form;
}

Form NetworkForm(VidurOperator which, std::vector<Wanted> wanted) {
  Form form;
  form.wanted = std::move(wanted);
  form.text_column = "collective";
  form.text = NameOf(which);
  form.sizes = {"size"};
  form.timed = {{which, MedianColumn(which), false, {"num_tokens"}, FirstSize}};
  form.unused = {"", "rank", "num_workers", "max_devices_per_node"};
  return form;
}

Form CpuForm(const VidurReplica& replica) {
  Form form;
  form.wanted = {
      {"tensor_parallel_degree", static_cast<double>(replica.tensor)}};
  form.text_column = "model_name";
  form.text = replica.model.name;
  form.sizes = {"batch_size"};
  const auto first = static_cast<size_t>(VidurOperator::kSchedule);
  for (size_t i = first; i < kVidurOperatorNames.size(); ++i) {
    const auto which = static_cast<VidurOperator>(i);
    const bool is_mean = which == VidurOperator::kRayCommTime;
    form.timed.push_back(
        {which,
         fmt::format("{}_{}", NameOf(which), is_mean ? "mean" : "median"),
         false,
         {"batch_size"},
         FirstSize});
    AddStatistics(NameOf(which), "_", &form.unused);
  }
  AddStatistics("model_execution_e2e", "_", &form.unused);
  form.unused.push_back("");
  return form;
}

Form FormOf(VidurTable table, const VidurReplica& replica, bool spans_nodes) {
  const auto tensor = static_cast<double>(replica.tensor);
  switch (table) {
    case VidurTable::kCompute:
      return ComputeForm(replica);
    case VidurTable::kAttention:
      return AttentionForm(replica);
    case VidurTable::kAllReduce:
      return NetworkForm(
          VidurOperator::kAllReduce,
          {{"num_workers", tensor}, {"devices_per_node", tensor}});
    case VidurTable::kSendRecv:
      return NetworkForm(VidurOperator::kSendRecv,
                         {{"devices_per_node", spans_nodes ? 1.0 : 2.0}});
    case VidurTable::kCpuOverhead:
      break;
  }
  return CpuForm(replica);
}

class Reader {
 public:
  Reader(std::string_view file, std::string_view contents, Form form)
      : file_(file),
        csv_(file, contents),
        form_(std::move(form)),
        seen_(form_.wanted.size()) {}

  // `scale` divides the size of a collective, which becomes tokens.
  absl::Status Read(double scale, VidurSamples* samples, Warnings* warnings) {
    FindColumns(warnings);
    for (const Timed& timed : form_.timed) {
      (*samples)[static_cast<size_t>(timed.which)].features = timed.features;
    }
    while (csv_.NextRow()) AddRow(scale, samples);
    ASTRA_RETURN_IF_ERROR(csv_.status());
    for (size_t i = 0; i < form_.timed.size(); ++i) {
      const auto which = static_cast<size_t>(form_.timed[i].which);
      if (times_[i] && (*samples)[which].size() < 2) return NoRows(which);
    }
    return absl::OkStatus();
  }

 private:
  void FindColumns(Warnings* warnings) {
    std::vector<std::string> known = form_.unused;
    for (const Wanted& wanted : form_.wanted) {
      wanted_.push_back(csv_.Column(wanted.column));
      known.emplace_back(wanted.column);
    }
    for (const std::string_view size : form_.sizes) {
      sizes_.push_back(csv_.Column(size));
      known.emplace_back(size);
    }
    if (!form_.text_column.empty()) {
      text_ = csv_.Column(form_.text_column);
      known.emplace_back(form_.text_column);
    }
    for (const Timed& timed : form_.timed) {
      if (timed.is_optional) {
        times_.push_back(csv_.Find(timed.column));
      } else {
        times_.push_back(csv_.Column(timed.column));
      }
      if (!times_.back()) {
        warnings->push_back(fmt::format("{}: no column {}: {} takes no time",
                                        file_, timed.column,
                                        NameOf(timed.which)));
      }
      AddStatistics(fmt::format("time_stats.{}", NameOf(timed.which)), ".",
                    &known);
      known.push_back(timed.column);
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    csv_.WarnOfOthers(names, warnings);
  }

  // Returns a size; of a column of booleans, 0 or 1.
  double Size(size_t column) {
    const std::string& text = csv_.cell(column).text;
    if (text == "True" || text == "False") return text == "True" ? 1 : 0;
    return csv_.Number(column, 0, kMaxSize);
  }

  bool IsWanted() {
    if (!form_.text_column.empty() && csv_.cell(text_).text != form_.text) {
      return false;
    }
    bool is_wanted = true;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const double value = Size(wanted_[i]);
      constexpr size_t kMostSeen = 64;
      if (seen_[i].size() < kMostSeen) seen_[i].insert(value);
      is_wanted &= value == form_.wanted[i].value;
    }
    return is_wanted;
  }

  void AddRow(double scale, VidurSamples* samples) {
    if (!IsWanted()) return;
    Sizes sizes;
    for (const size_t column : sizes_) sizes.push_back(Size(column) / scale);
    for (size_t i = 0; i < form_.timed.size(); ++i) {
      const Timed& timed = form_.timed[i];
      if (!times_[i] || csv_.cell(*times_[i]).text.empty()) continue;
      const auto features = timed.features_of(sizes);
      if (!features) continue;
      const double ms = csv_.Number(*times_[i], 0, kMaxMs);
      if (!csv_.status().ok()) return;
      TrainingSet& set = (*samples)[static_cast<size_t>(timed.which)];
      set.values.insert(set.values.end(), features->begin(), features->end());
      set.times_us.push_back(std::max(kLeastUs, ms * kUsPerMs));
    }
  }

  // Names the first column that never has the wanted value.
  absl::Status NoRows(size_t which) const {
    for (size_t i = 0; i < form_.wanted.size(); ++i) {
      if (seen_[i].count(form_.wanted[i].value) > 0) continue;
      std::string values;
      for (const double value : seen_[i]) {
        values += fmt::format("{}{}", values.empty() ? "" : ", ", value);
      }
      return absl::InvalidArgumentError(
          fmt::format("{}: no row has {} {} (the file has: {})", file_,
                      form_.wanted[i].column, form_.wanted[i].value, values));
    }
    return absl::InvalidArgumentError(
        fmt::format("{}: fewer than 2 rows of {} for this replica", file_,
                    kVidurOperatorNames[which]));
  }

  std::string_view file_;
  CsvReader csv_;
  Form form_;
  std::vector<size_t> wanted_;  // Positions of the columns of form_.
  std::vector<size_t> sizes_;
  std::vector<std::optional<size_t>> times_;
  size_t text_ = 0;
  std::vector<std::set<double>> seen_;  // Values of the wanted columns.
};

}  // namespace

absl::Status ReadVidurTable(VidurTable table, std::string_view file,
                            std::string_view contents,
                            const VidurReplica& replica, bool spans_nodes,
                            VidurSamples* samples, Warnings* warnings) {
  const bool is_network =
      table == VidurTable::kAllReduce || table == VidurTable::kSendRecv;
  const double scale =
      is_network ? 2 * static_cast<double>(replica.model.hidden) : 1;
  return Reader(file, contents, FormOf(table, replica, spans_nodes))
      .Read(scale, samples, warnings);
}

}  // namespace astra
