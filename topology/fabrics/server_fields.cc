#include "topology/fabrics/server_fields.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"
#include "topology/topology.h"

namespace astra {
namespace {

constexpr int64_t kMaxPlanes = 64;

class ServerFieldReader {
 public:
  ServerFieldReader(std::string_view file, const ServerTypeSources& sources,
                    Warnings* warnings)
      : file_(file), sources_(sources), warnings_(warnings) {}

  ServerFields Read(YamlFields& root) {
    ReadServers(root.Map("servers", "the servers"));
    ReadNics(root.Map("nics", "the NICs"));
    return std::move(read_);
  }

 private:
  static uint32_t Count(std::string_view key, int64_t otherwise, int64_t min,
                        int64_t max, YamlFields& fields) {
    return static_cast<uint32_t>(fields.IntegerOr(key, otherwise, min, max));
  }

  void ReadServers(YamlFields fields) {
    ReadType(fields);
    ServerSpec& servers = read_.servers;
    servers.count =
        static_cast<uint32_t>(fields.Integer("count", 1, Topology::kMaxNodes));
    ReadGpus(fields);
    ReadNvlink(fields);
    fields.Close();
    if (int64_t{servers.count} * servers.gpus > Topology::kMaxNodes) {
      fields.Error("count",
                   fmt::format("more than {} GPUs", Topology::kMaxNodes));
      servers.count = 1;
    }
  }

  // Reads the type of server, if the file names one.
  void ReadType(YamlFields& fields) {
    const bool is_dump = fields.has("nccl_topology");
    const std::string_view key = is_dump ? "nccl_topology" : "type";
    const std::string value = fields.TextOr(key, "");
    if (!fields.has(key)) return;
    if (is_dump && fields.Value("type") != nullptr) {
      return fields.Error("type", "no effect beside nccl_topology");
    }
    absl::StatusOr<ServerType> type =
        is_dump ? sources_.nccl_topology(value) : sources_.named(value);
    if (!type.ok()) {
      return fields.Error(key, std::string(type.status().message()));
    }
    type_ = *std::move(type);
    read_.servers = type_->server;
    read_.nics.cable = type_->nic;
  }

  void ReadGpus(YamlFields& fields) {
    ServerSpec& servers = read_.servers;
    const uint32_t most = type_ ? servers.gpus : ServerSpec::kMaxGpus;
    const uint32_t gpus = Count("gpus", servers.gpus, 1, most, fields);
    if (type_ && gpus != servers.gpus) {
      Tell("gpus", std::to_string(gpus), std::to_string(servers.gpus), fields);
      KeepGpus(gpus, &servers);
    }
    servers.gpus = gpus;
    const std::string was = servers.gpu_type;
    servers.gpu_type = fields.TextOr("gpu_type", was);
    if (!IsPlain(servers.gpu_type) || servers.gpu_type.empty() ||
        servers.gpu_type.find_first_of(" \t\r\n/") != std::string::npos) {
      fields.Error("gpu_type", "expected one word without \"/\"");
    }
    Tell("gpu_type", servers.gpu_type, was, fields);
  }

  void ReadNvlink(YamlFields& fields) {
    ServerSpec& servers = read_.servers;
    if (!servers.gpu_cables.empty() && fields.Value("nvlink") != nullptr) {
      return fields.Error(
          "nvlink",
          fmt::format("no effect: {} has NVLink from GPU to GPU", type_->name));
    }
    YamlFields nvlink = fields.Map("nvlink", "NVLink");
    const uint32_t one = type_ ? servers.nv_switches : servers.gpus > 1 ? 1 : 0;
    servers.nv_switches =
        Count("switches", one, 0, ServerSpec::kMaxGpus, nvlink);
    servers.trays = Count("trays", 1, 1, ServerSpec::kMaxGpus, nvlink);
    servers.second_level = Count("second_level", servers.trays > 1 ? 1 : 0, 0,
                                 ServerSpec::kMaxGpus, nvlink);
    if (type_ && servers.nv_switches > 1) Divide(servers);
    servers.nvlink = ReadCableBesideType(servers.nvlink, nvlink);
    CheckTrays(nvlink);
    nvlink.Close();
  }

  // Divides the rate of a GPU among the switches that the file asks for.
  static void Divide(ServerSpec& servers) {
    const absl::StatusOr<Bandwidth> rate = ParseBandwidth(servers.nvlink.rate);
    if (!rate.ok()) return;
    servers.nvlink.rate =
        CableRateText(Bandwidth(rate->count() / servers.nv_switches));
  }

  void CheckTrays(YamlFields& nvlink) const {
    const ServerSpec& servers = read_.servers;
    if (servers.gpus % servers.trays != 0) {
      nvlink.Error("trays", fmt::format("{} GPUs do not divide into {} trays",
                                        servers.gpus, servers.trays));
    }
    if (servers.trays > 1 && servers.second_level == 0) {
      nvlink.Error("second_level", "expected switches that join the trays");
    }
    if (servers.trays == 1 && servers.second_level > 0) {
      nvlink.Error("second_level", "no effect with one tray");
    }
  }

  void ReadNics(YamlFields fields) {
    uint32_t per_gpu = Count("per_gpu", 1, 1, kMaxPlanes, fields);
    const uint32_t sharing =
        Count("gpus_per_nic", 1, 1, ServerSpec::kMaxGpus, fields);
    read_.nics.planes = Count("planes", 1, 1, kMaxPlanes, fields);
    if (type_ && type_->nic.rate.empty() && !fields.has("rate")) {
      fields.Error("rate", fmt::format("{} has no NICs: expected the rate of "
                                       "NICs",
                                       type_->name));
    }
    read_.nics.cable = ReadCableBesideType(read_.nics.cable, fields);
    const bool are_counted =
        fields.has("per_gpu") || fields.has("gpus_per_nic");
    CheckNics(sharing, &per_gpu, fields);
    if (read_.servers.nics.empty()) {
      read_.servers.nics = EvenNics(read_.servers.gpus, per_gpu, sharing);
    } else if (are_counted) {
      const size_t had = read_.servers.nics.size();
      read_.servers.nics = EvenNics(read_.servers.gpus, per_gpu, sharing);
      Tell(fields.has("per_gpu") ? "per_gpu" : "gpus_per_nic",
           NicsText(read_.servers.nics.size()), NicsText(had), fields);
    }
    fields.Close();
  }

  void CheckNics(uint32_t sharing, uint32_t* per_gpu,
                 YamlFields& fields) const {
    const uint32_t gpus = read_.servers.gpus;
    if (*per_gpu > 1 && sharing > 1) {
      fields.Error("gpus_per_nic", "no effect beside per_gpu");
    }
    if (gpus % sharing != 0) {
      fields.Error(
          "gpus_per_nic",
          fmt::format("{} GPUs do not divide among NICs of {}", gpus, sharing));
    }
    if (int64_t{gpus} * *per_gpu > ServerSpec::kMaxNics) {
      fields.Error("per_gpu", fmt::format("more than {} NICs of a server",
                                          ServerSpec::kMaxNics));
      *per_gpu = 1;
    }
  }

  static std::string NicsText(size_t count) {
    return fmt::format("{} NICs", count);
  }

  CableSpec ReadCableBesideType(const CableSpec& otherwise,
                                YamlFields& fields) {
    CableSpec cable = ReadCable(otherwise, fields);
    if (!otherwise.rate.empty()) {
      Tell("rate", cable.rate, otherwise.rate, fields);
    }
    Tell("latency", cable.latency, otherwise.latency, fields);
    return cable;
  }

  // Tells that the file says `is` where the type says `was`.
  void Tell(std::string_view key, std::string_view is, std::string_view was,
            YamlFields& fields) {
    if (!type_ || is == was) return;
    const YamlValue* value = fields.Value(key);
    if (value == nullptr) return;
    warnings_->push_back(fmt::format("{}:{}:{}: {}: {} in place of {} of {}",
                                     file_, value->line, value->column, key, is,
                                     was, type_->name));
  }

  std::string_view file_;
  const ServerTypeSources& sources_;
  Warnings* warnings_;
  std::optional<ServerType> type_;
  ServerFields read_;
};

}  // namespace

ServerFields ReadServerFields(std::string_view file,
                              const ServerTypeSources& sources,
                              YamlFields& root, Warnings* warnings) {
  return ServerFieldReader(file, sources, warnings).Read(root);
}

}  // namespace astra
