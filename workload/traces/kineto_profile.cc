#include "workload/traces/kineto_profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "workload/traces/kineto_events.h"

namespace astra {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr double kMostMicroseconds = 1e9;
constexpr double kMostBegin = 1e18;  // Microseconds; 30,000 years.

// PyTorch's words for collectives, and whether they count what goes in or what
// comes out.
struct CollectiveWord {
  std::string_view word;
  CollectiveKind kind;
  bool counts_output;
};
constexpr CollectiveWord kCollectiveWords[] = {
    {"allreduce", CollectiveKind::kAllReduce, false},
    {"allreduce_coalesced", CollectiveKind::kAllReduce, false},
    {"all_gather", CollectiveKind::kAllGather, true},
    {"_allgather_base", CollectiveKind::kAllGather, true},
    {"allgather_into_tensor_coalesced", CollectiveKind::kAllGather, true},
    {"reduce_scatter", CollectiveKind::kReduceScatter, false},
    {"_reduce_scatter_base", CollectiveKind::kReduceScatter, false},
    {"reduce_scatter_tensor_coalesced", CollectiveKind::kReduceScatter, false},
    {"all_to_all", CollectiveKind::kAllToAll, false},
    {"all_to_allv", CollectiveKind::kAllToAll, false},
    {"broadcast", CollectiveKind::kBroadcast, false},
    {"reduce", CollectiveKind::kReduce, false},
    {"gather", CollectiveKind::kGather, true},
    {"scatter", CollectiveKind::kScatter, false},
    {"send", CollectiveKind::kSendRecv, false},
    {"recv", CollectiveKind::kSendRecv, true},
};

struct ElementType {
  std::string_view word;
  int64_t bytes;
  std::string_view precision;  // Of products; empty: not used.
};
constexpr ElementType kElementTypes[] = {
    {"BFloat16", 2, "bf16"},
    {"Half", 2, "fp16"},
    {"Float", 4, "fp32"},
    {"Double", 8, ""},
    {"Float8_e4m3fn", 1, "fp8"},
    {"Float8_e5m2", 1, "fp8"},
    {"Byte", 1, ""},
    {"Char", 1, ""},
    {"Bool", 1, ""},
    {"Short", 2, ""},
    {"Int", 4, ""},
    {"Long", 8, ""},
};

// Operators that multiply, and the first of their two matrices.
struct ProductWord {
  std::string_view word;
  size_t first_matrix;
};
constexpr ProductWord kProductWords[] = {
    {"aten::mm", 0},      {"aten::addmm", 1},      {"aten::bmm", 0},
    {"aten::baddbmm", 1}, {"aten::_scaled_mm", 0},
};

template <class Table>
auto FindWord(const Table& table, std::string_view word)
    -> decltype(std::begin(table)) {
  return std::find_if(std::begin(table), std::end(table),
                      [&](const auto& entry) { return entry.word == word; });
}

// "c10::BFloat16", or "float" of older versions.
std::string_view ElementWord(std::string_view type) {
  if (type.starts_with("c10::")) type.remove_prefix(5);
  if (type == "float") return "Float";
  return type;
}

const Json* FindField(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string TextOf(const Json& object, std::string_view key) {
  const Json* field = FindField(object, key);
  return field != nullptr && field->is_string() ? field->get<std::string>()
                                                : "";
}

// Returns a whole number from 1 on; 0 for anything else.
int64_t CountOf(const Json* field) {
  if (field == nullptr || !field->is_number_integer()) return 0;
  const auto count = field->get<int64_t>();
  return count >= 1 && count <= kMostElements ? count : 0;
}

std::optional<TimePs> DurationOf(const Json& event) {
  const Json* field = FindField(event, "dur");
  if (field == nullptr || !field->is_number()) return std::nullopt;
  const auto us = field->get<double>();
  if (!(us >= 0 && us <= kMostMicroseconds)) return std::nullopt;
  return TimePs(std::llround(us * 1e6));
}

// "[0, 1, 2]"; empty for anything else, such as a list that is cut short.
std::vector<RankId> RanksOf(const std::string& text) {
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<RankId> ranks;
  if (!list.is_array()) return ranks;
  for (const Json& rank : list) {
    if (!rank.is_number_unsigned() || rank.get<uint64_t>() > UINT32_MAX) {
      return {};
    }
    ranks.emplace_back(rank.get<uint32_t>());
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// The sizes of a matrix of two dimensions, or of several of them.
struct Matrix {
  int64_t groups = 1;
  int64_t rows = 0;
  int64_t columns = 0;
};
std::optional<Matrix> MatrixOf(const Json& dims, size_t index) {
  if (!dims.is_array() || index >= dims.size()) return std::nullopt;
  const Json& sizes = dims[index];
  if (!sizes.is_array() || sizes.size() < 2 || sizes.size() > 3) {
    return std::nullopt;
  }
  const size_t last = sizes.size() - 1;
  const Matrix matrix = {sizes.size() == 3 ? CountOf(&sizes[0]) : 1,
                         CountOf(&sizes[last - 1]), CountOf(&sizes[last])};
  if (matrix.groups == 0 || matrix.rows == 0 || matrix.columns == 0) {
    return std::nullopt;
  }
  return matrix;
}

// Returns whether a kernel moves data between GPUs and computes nothing.
bool Communicates(std::string_view name) {
  const std::string kernel = LowerCase(name);
  constexpr std::string_view kWords[] = {"nccl", "rccl", "nvshmem", "deep_ep"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&kernel](std::string_view word) {
                       return kernel.find(word) != std::string::npos;
                     });
}

// The time in which anything is busy.
class BusyTime {
 public:
  // Times are in microseconds since any instant.
  void Add(double begin_us, TimePs duration) {
    intervals_.emplace_back(begin_us, begin_us + ToMicroseconds(duration));
  }

  TimePs Sum() {
    std::sort(intervals_.begin(), intervals_.end());
    double busy_us = 0;
    double until_us = -std::numeric_limits<double>::infinity();
    for (const auto& [begin_us, end_us] : intervals_) {
      if (end_us <= until_us) continue;
      busy_us += end_us - std::max(begin_us, until_us);
      until_us = end_us;
    }
    constexpr double kMostPs = 0x1p61;  // 26 days.
    return TimePs(std::llround(std::min(kMostPs, busy_us * 1e6)));
  }

 private:
  std::vector<std::pair<double, double>> intervals_;  // Begin and end.
};

// Adds `time`, but not beyond 26 days, the longest time of a simulation.
void Add(TimePs time, TimePs& sum) {
  constexpr TimePs kMost(int64_t{1} << 61);
  sum = std::min(kMost, sum + time);
}

// Sums up the events of a trace.
class Reader {
 public:
  explicit Reader(KinetoProfile& trace) : trace_(trace) {}

  void Take(const Json& event) {
    const std::string category = TextOf(event, "cat");
    const std::string name = TextOf(event, "name");
    if (name.starts_with("ProfilerStep#")) steps_.insert(name);
    if (category == "cpu_op") ReadOperator(name, event);
    if (category == "kernel") ReadKernel(name, event);
  }

  // Fills in what all events together say.
  void Finish() {
    trace_.num_steps =
        std::max<int64_t>(1, static_cast<int64_t>(steps_.size()));
    trace_.computing = computing_.Sum();
    std::map<ProductKey, KinetoProduct> products;
    for (const auto& [id, key] : product_of_id_) {
      const auto time = time_of_id_.find(id);
      if (time == time_of_id_.end()) continue;
      KinetoProduct& product = products[key];
      std::tie(product.name, product.precision, product.m, product.n, product.k,
               product.groups) = key;
      product.times.push_back(time->second);
    }
    for (auto& [key, product] : products) {
      trace_.products.push_back(std::move(product));
    }
    for (auto& [key, collective] : collectives_) {
      trace_.collectives.push_back(std::move(collective));
    }
    for (auto& [name, kernel] : kernels_) {
      trace_.kernels.push_back(std::move(kernel));
    }
    SortByTime(trace_.products);
    SortByTime(trace_.collectives);
    std::stable_sort(trace_.kernels.begin(), trace_.kernels.end(),
                     [](const KinetoKernel& a, const KinetoKernel& b) {
                       return a.time > b.time;
                     });
  }

 private:
  using ProductKey =
      std::tuple<std::string, std::string, int64_t, int64_t, int64_t, int64_t>;
  using CollectiveKey = std::tuple<CollectiveKind, Bytes, std::string, int64_t>;

  static int64_t ExternalId(const Json& event) {
    const Json* args = FindField(event, "args");
    return args == nullptr ? 0 : CountOf(FindField(*args, "External id"));
  }

  void ReadOperator(const std::string& name, const Json& event) {
    const auto* word = FindWord(kProductWords, name);
    if (word == std::end(kProductWords)) return;
    const int64_t id = ExternalId(event);
    if (id == 0) return;
    const Json& args = event.at("args");
    const Json* dims = FindField(args, "Input Dims");
    const Json* types = FindField(args, "Input type");
    if (dims == nullptr || types == nullptr) {
      trace_.lacks_shapes = true;
      return;
    }
    const auto first = MatrixOf(*dims, word->first_matrix);
    const auto second = MatrixOf(*dims, word->first_matrix + 1);
    if (!first || !second || first->columns != second->rows ||
        first->groups != second->groups || !types->is_array() ||
        types->size() <= word->first_matrix ||
        !(*types)[word->first_matrix].is_string()) {
      ++trace_.num_unknown_products;
      return;
    }
    const auto type = (*types)[word->first_matrix].get<std::string>();
    const auto* element = FindWord(kElementTypes, ElementWord(type));
    if (element == std::end(kElementTypes) || element->precision.empty()) {
      ++trace_.num_unknown_products;
      return;
    }
    product_of_id_[id] = {name,           std::string(element->precision),
                          first->rows,    second->columns,
                          first->columns, first->groups};
  }

  void ReadKernel(const std::string& name, const Json& event) {
    const bool communicates = Communicates(name);
    trace_.num_computing_kernels += static_cast<int64_t>(!communicates);
    const std::optional<TimePs> time = DurationOf(event);
    if (!time) {
      ++trace_.num_untimed_kernels;
      trace_.num_unplaced_kernels += static_cast<int64_t>(!communicates);
      return;
    }
    KinetoKernel& kernel = kernels_[name];
    kernel.name = name;
    kernel.is_communication = communicates;
    ++kernel.count;
    Add(*time, kernel.time);
    if (communicates) {
      if (!AddCollective(event, *time)) ++trace_.num_unknown_collectives;
      return;
    }
    AddComputation(event, *time);
  }

  // The operator of the kernel may come later in the file.
  void AddComputation(const Json& event, TimePs time) {
    const Json* begin = FindField(event, "ts");
    if (begin != nullptr && begin->is_number() &&
        std::fabs(begin->get<double>()) <= kMostBegin) {
      computing_.Add(begin->get<double>(), time);
    } else {
      ++trace_.num_unplaced_kernels;
    }
    const int64_t id = ExternalId(event);
    if (id != 0) Add(time, time_of_id_[id]);
  }

  // Returns whether the kernel says what it does.
  bool AddCollective(const Json& event, TimePs time) {
    const Json* args = FindField(event, "args");
    if (args == nullptr) return false;
    const auto* word =
        FindWord(kCollectiveWords, TextOf(*args, "Collective name"));
    const auto* element =
        FindWord(kElementTypes, ElementWord(TextOf(*args, "dtype")));
    if (word == std::end(kCollectiveWords) ||
        element == std::end(kElementTypes)) {
      return false;
    }
    const int64_t elements = CountOf(FindField(
        *args, word->counts_output ? "Out msg nelems" : "In msg nelems"));
    const int64_t num_ranks = CountOf(FindField(*args, "Group size"));
    if (elements == 0 || num_ranks == 0) return false;
    const Bytes bytes(elements * element->bytes);
    const std::string group = TextOf(*args, "Process Group Name");
    KinetoCollective& collective =
        collectives_[{word->kind, bytes, group, num_ranks}];
    collective.kind = word->kind;
    collective.bytes = bytes;
    collective.group = group;
    collective.num_ranks = num_ranks;
    collective.ranks = RanksOf(TextOf(*args, "Process Group Ranks"));
    collective.times.push_back(time);
    return true;
  }

  template <class Row>
  static void SortByTime(std::vector<Row>& rows) {
    for (Row& row : rows) std::sort(row.times.begin(), row.times.end());
    const auto sum = [](const Row& row) {
      TimePs all;
      for (const TimePs time : row.times) Add(time, all);
      return all;
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      return sum(a) > sum(b);
    });
  }

  KinetoProfile& trace_;
  BusyTime computing_;
  std::set<std::string> steps_;
  std::map<int64_t, ProductKey> product_of_id_;
  std::map<int64_t, TimePs> time_of_id_;
  std::map<CollectiveKey, KinetoCollective> collectives_;
  std::map<std::string, KinetoKernel> kernels_;
};

}  // namespace

absl::StatusOr<KinetoProfile> ParseKinetoProfile(std::string_view file,
                                                 std::string_view contents) {
  KinetoProfile trace;
  Reader reader(trace);
  ASTRA_ASSIGN_OR_RETURN(
      KinetoHeader header,
      ReadKinetoEvents(file, contents,
                       [&reader](const Json& event) { reader.Take(event); }));
  trace.gpu = std::move(header.gpu);
  trace.rank = header.rank;
  reader.Finish();
  if (trace.kernels.empty() && trace.num_untimed_kernels > 0) {
    return absl::InvalidArgumentError(
        fmt::format("{}: no kernel has a \"dur\" from 0 to {:g} us", file,
                    kMostMicroseconds));
  }
  if (trace.kernels.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: no kernel of a GPU (\"cat\": \"kernel\"); expected a "
                    "trace of PyTorch's profiler with ProfilerActivity.CUDA",
                    file));
  }
  return trace;
}

}  // namespace astra
