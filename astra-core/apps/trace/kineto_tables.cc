#include "astra-core/apps/trace/kineto_tables.h"

#include <algorithm>
#include <set>

#include "astra-core/base/median.h"
#include "astra-core/results/table.h"
#include "collectives/measurements/measured_terms.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct ProductRow {
  const KinetoProduct& product;
  const KinetoTableOptions& options;
};

constexpr Column<ProductRow> kProductColumns[] = {
    {"gpu", "", "name",
     [](const ProductRow& row, std::string* text) {
       AppendField(row.options.gpu, text);
     }},
    {"operator", "", "name",
     [](const ProductRow& row, std::string* text) {
       AppendField(row.product.name, text);
     }},
    {"precision", "", "of the first matrix",
     [](const ProductRow& row, std::string* text) {
       AppendField(row.product.precision, text);
     }},
    {"m", "", "rows of the first matrix",
     [](const ProductRow& row, std::string* text) {
       AppendInteger(row.product.m, text);
     }},
    {"n", "", "columns of the second matrix",
     [](const ProductRow& row, std::string* text) {
       AppendInteger(row.product.n, text);
     }},
    {"k", "", "columns of the first matrix",
     [](const ProductRow& row, std::string* text) {
       AppendInteger(row.product.k, text);
     }},
    {"groups", "", "products at once",
     [](const ProductRow& row, std::string* text) {
       AppendInteger(row.product.groups, text);
     }},
    {"time_us", "us", "median of the runs",
     [](const ProductRow& row, std::string* text) {
       AppendUs(MedianOf(row.product.times), text);
     }},
    {"source", "", "file and number of runs",
     [](const ProductRow& row, std::string* text) {
       AppendField(fmt::format("{}, {} runs", row.options.source,
                               row.product.times.size()),
                   text);
     }},
};

struct CollectiveRow {
  const KinetoCollective& collective;
  const KinetoTableOptions& options;
};

// Ranks that the trace does not list are taken to follow one another.
int64_t ServersOf(const CollectiveRow& row) {
  const int64_t size = row.options.gpus_per_server;
  if (row.collective.ranks.empty()) {
    return (row.collective.num_ranks + size - 1) / size;
  }
  std::set<int64_t> servers;
  for (const RankId rank : row.collective.ranks) {
    servers.insert(int64_t{rank.index()} / size);
  }
  return static_cast<int64_t>(servers.size());
}

constexpr Column<CollectiveRow> kCollectiveColumns[] = {
    {"gpu", "", "name",
     [](const CollectiveRow& row, std::string* text) {
       AppendField(row.options.gpu, text);
     }},
    {"nodes", "", "servers",
     [](const CollectiveRow& row, std::string* text) {
       AppendInteger(ServersOf(row), text);
     }},
    {"gpus_total", "", "ranks of the group",
     [](const CollectiveRow& row, std::string* text) {
       AppendInteger(row.collective.num_ranks, text);
     }},
    {"nic_gbps", "", "not known from a trace",
     [](const CollectiveRow&, std::string* text) { *text += "none"; }},
    {"collective", "", "kind",
     [](const CollectiveRow& row, std::string* text) {
       *text += NcclTestsName(row.collective.kind);
     }},
    {"bytes", "B", "size of nccl-tests",
     [](const CollectiveRow& row, std::string* text) {
       AppendInteger(row.collective.bytes.count(), text);
     }},
    {"time_us", "us", "shortest of the runs",
     [](const CollectiveRow& row, std::string* text) {
       AppendUs(row.collective.times.front(), text);
     }},
    {"env", "", "kernels wait for nothing but other ranks",
     [](const CollectiveRow&, std::string* text) { *text += "queued"; }},
    {"median_us", "us", "median, with waiting for ranks that come late",
     [](const CollectiveRow& row, std::string* text) {
       AppendUs(MedianOf(row.collective.times), text);
     }},
    {"runs", "", "how often it ran",
     [](const CollectiveRow& row, std::string* text) {
       AppendInteger(static_cast<int64_t>(row.collective.times.size()), text);
     }},
    {"group", "", "name of the process group",
     [](const CollectiveRow& row, std::string* text) {
       AppendField(row.collective.group, text);
     }},
};

constexpr Column<KinetoKernel> kKernelColumns[] = {
    {"kernel", "", "name",
     [](const KinetoKernel& kernel, std::string* text) {
       AppendField(kernel.name, text);
     }},
    {"is_communication", "", "1 for kernels of NCCL",
     [](const KinetoKernel& kernel, std::string* text) {
       AppendInteger(kernel.is_communication ? 1 : 0, text);
     }},
    {"count", "", "how often it ran",
     [](const KinetoKernel& kernel, std::string* text) {
       AppendInteger(kernel.count, text);
     }},
    {"time_us", "us", "of all runs",
     [](const KinetoKernel& kernel, std::string* text) {
       AppendUs(kernel.time, text);
     }},
};

TimePs SumOf(const std::vector<TimePs>& times) {
  TimePs sum;
  for (const TimePs time : times) sum += time;
  return sum;
}

}  // namespace

std::vector<NamedFile> KinetoTables(const KinetoProfile& trace,
                                    const KinetoTableOptions& options) {
  std::vector<NamedFile> files;
  std::string kernels = HeaderOf<KinetoKernel>(kKernelColumns);
  for (const KinetoKernel& kernel : trace.kernels) {
    AppendRow<KinetoKernel>(kKernelColumns, kernel, &kernels);
  }
  files.push_back({"kernels.csv", std::move(kernels)});
  if (!trace.products.empty()) {
    std::string text = HeaderOf<ProductRow>(kProductColumns);
    for (const KinetoProduct& product : trace.products) {
      AppendRow<ProductRow>(kProductColumns, {product, options}, &text);
    }
    files.push_back({"operators.csv", std::move(text)});
  }
  if (!trace.collectives.empty()) {
    std::string text = HeaderOf<CollectiveRow>(kCollectiveColumns);
    for (const KinetoCollective& collective : trace.collectives) {
      AppendRow<CollectiveRow>(kCollectiveColumns, {collective, options},
                               &text);
    }
    files.push_back({"communication.csv", std::move(text)});
  }
  return files;
}

std::string DescribeKineto(const KinetoProfile& trace) {
  TimePs all;
  TimePs communication;
  TimePs products;
  int64_t count = 0;
  for (const KinetoKernel& kernel : trace.kernels) {
    all += kernel.time;
    count += kernel.count;
    if (kernel.is_communication) communication += kernel.time;
  }
  for (const KinetoProduct& product : trace.products) {
    products += SumOf(product.times);
  }
  const auto ms = [](TimePs time) { return ToMicroseconds(time) * 1e-3; };
  std::string text = fmt::format(
      "kernels    {} kernels, {:.3f} ms: products {:.3f} ms in {} shapes, "
      "collectives {:.3f} ms of {} kinds and sizes, other kernels {:.3f} ms\n",
      count, ms(all), ms(products), trace.products.size(), ms(communication),
      trace.collectives.size(), ms(all - communication - products));
  if (trace.lacks_shapes) {
    text +=
        "no shapes  products have none: profile with record_shapes=True for "
        "operators.csv\n";
  }
  if (trace.num_unknown_products > 0) {
    text +=
        fmt::format("left out   {} products whose shapes or types do not fit\n",
                    trace.num_unknown_products);
  }
  if (trace.num_untimed_kernels > 0) {
    text += fmt::format("left out   {} kernels without a duration\n",
                        trace.num_untimed_kernels);
  }
  if (trace.num_unknown_collectives > 0) {
    text += fmt::format(
        "left out   {} kernels of NCCL that do not say their collective and "
        "size\n",
        trace.num_unknown_collectives);
  }
  return text;
}

}  // namespace astra
