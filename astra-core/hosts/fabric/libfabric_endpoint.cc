// A reliable datagram endpoint of libfabric.

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/hosts/fabric/fabric_device.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"
#include "astra-core/hosts/fabric/libfabric.h"
#include "astra-core/hosts/secret.h"
#include "fmt/core.h"

namespace astra {
namespace {

static_assert(sizeof(WriteTicket) >= sizeof(fi_context2),
              "a provider has less room in a ticket than it may use");

struct CloseFid {
  template <class Object>
  void operator()(Object* object) const {
    fi_close(&object->fid);
  }
};
template <class Object>
using Owned = std::unique_ptr<Object, CloseFid>;

class LibfabricEndpoint final : public FabricEndpoint {
 public:
  LibfabricEndpoint(const Libfabric& library, FabricInfo info)
      : library_(library), info_(std::move(info)) {}

  absl::Status Open();

  FabricName name() const override { return NameOf(*info_); }
  std::string address() const override { return address_; }
  absl::StatusOr<RemoteMemory> Register(absl::Span<char> memory) override;
  absl::StatusOr<FabricPeer> AddPeer(std::string_view address) override;
  absl::StatusOr<bool> Write(const FabricWrite& write,
                             WriteTicket* ticket) override;
  absl::Status Poll(std::vector<FabricCompletion>* completions) override;
  int descriptor() const override { return descriptor_; }
  bool MayWait() override;

 private:
  absl::Status OpenQueue();
  absl::Status ReadAddress();
  absl::Status ReadError(std::vector<FabricCompletion>* completions);
  absl::Status Check(std::string_view what, int64_t result) const;

  const Libfabric library_;
  const FabricInfo info_;
  // Objects are closed in the opposite order.
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_av> addresses_;
  Owned<fid_cq> queue_;  // Completions and notices.
  Owned<fid_mr> memory_;
  Owned<fid_ep> endpoint_;
  std::string address_;
  std::map<std::string, FabricPeer> peers_;  // By address.
  int descriptor_ = -1;
};

// Returns an error that names the device, unless `result` is at least 0.
absl::Status LibfabricEndpoint::Check(std::string_view what,
                                      int64_t result) const {
  if (result >= 0) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("libfabric cannot {} on {} of its provider {}: {}", what,
                  name().device, name().provider, library_.ErrorText(result)));
}

// Opens the queue of completions. A process sleeps until the queue of a
// provider on sockets has something; the queues of devices are polled, as NCCL
// does it, since to be woken takes longer than a message does.
absl::Status LibfabricEndpoint::OpenQueue() {
  constexpr size_t kEntries = size_t{1} << 14;
  fi_cq_attr attributes{};
  attributes.size = kEntries;
  attributes.format = FI_CQ_FORMAT_DATA;
  fid_cq* queue = nullptr;
  if (!IsRdmaProvider(name().provider)) {
    attributes.wait_obj = FI_WAIT_FD;
    if (fi_cq_open(domain_.get(), &attributes, &queue, nullptr) == 0) {
      queue_.reset(queue);
      return Check("wait", fi_control(&queue->fid, FI_GETWAIT, &descriptor_));
    }
  }
  attributes.wait_obj = FI_WAIT_NONE;
  ASTRA_RETURN_IF_ERROR(
      Check("open a queue of completions",
            fi_cq_open(domain_.get(), &attributes, &queue, nullptr)));
  queue_.reset(queue);
  return absl::OkStatus();
}

absl::Status LibfabricEndpoint::ReadAddress() {
  std::array<char, 256> bytes{};
  size_t size = bytes.size();
  ASTRA_RETURN_IF_ERROR(Check(
      "tell its address", fi_getname(&endpoint_->fid, bytes.data(), &size)));
  address_.assign(bytes.data(), size);
  return absl::OkStatus();
}

absl::Status LibfabricEndpoint::Open() {
  fid_fabric* fabric = nullptr;
  ASTRA_RETURN_IF_ERROR(Check(
      "open a network", library_.fabric(info_->fabric_attr, &fabric, nullptr)));
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  ASTRA_RETURN_IF_ERROR(
      Check("open a domain", fi_domain(fabric, info_.get(), &domain, nullptr)));
  domain_.reset(domain);
  fi_av_attr of_addresses{};
  fid_av* addresses = nullptr;
  ASTRA_RETURN_IF_ERROR(
      Check("open a table of addresses",
            fi_av_open(domain, &of_addresses, &addresses, nullptr)));
  addresses_.reset(addresses);
  ASTRA_RETURN_IF_ERROR(OpenQueue());
  fid_ep* endpoint = nullptr;
  ASTRA_RETURN_IF_ERROR(
      Check("open an endpoint",
            fi_endpoint(domain, info_.get(), &endpoint, nullptr)));
  endpoint_.reset(endpoint);
  ASTRA_RETURN_IF_ERROR(Check("bind a table of addresses",
                              fi_ep_bind(endpoint, &addresses->fid, 0)));
  ASTRA_RETURN_IF_ERROR(
      Check("bind a queue of completions",
            fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV)));
  ASTRA_RETURN_IF_ERROR(Check("enable an endpoint", fi_enable(endpoint)));
  return ReadAddress();
}

absl::StatusOr<RemoteMemory> LibfabricEndpoint::Register(
    absl::Span<char> memory) {
  ASTRA_CHECK(memory_ == nullptr, "memory is registered twice");
  // Some providers let the process choose the key, which nobody should guess.
  uint64_t key = 0;
  const std::string random = RandomBytes(sizeof(key));
  std::memcpy(&key, random.data(), sizeof(key));
  const size_t key_bits = 8 * info_->domain_attr->mr_key_size;
  if (key_bits < 64) key &= (uint64_t{1} << key_bits) - 1;
  fid_mr* registered = nullptr;
  const int result =
      fi_mr_reg(domain_.get(), memory.data(), memory.size(),
                FI_WRITE | FI_REMOTE_WRITE, 0, key, 0, &registered, nullptr);
  if (result != 0) {
    return absl::ResourceExhaustedError(fmt::format(
        "{} does not let this process pin {} bytes of memory: {}; ulimit -l "
        "says how many it may pin",
        name().device, memory.size(), library_.ErrorText(result)));
  }
  memory_.reset(registered);
  const bool has_addresses =
      (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  return RemoteMemory{
      .address = has_addresses ? reinterpret_cast<uintptr_t>(memory.data()) : 0,
      .key = fi_mr_key(registered)};
}

absl::StatusOr<FabricPeer> LibfabricEndpoint::AddPeer(
    std::string_view address) {
  const auto known = peers_.find(std::string(address));
  if (known != peers_.end()) return known->second;
  // Providers read as many bytes as an address of theirs has.
  if (address.size() != address_.size()) {
    return absl::InvalidArgumentError(
        fmt::format("an address of {} bytes is none of the provider {}, whose "
                    "addresses have {}",
                    address.size(), name().provider, address_.size()));
  }
  fi_addr_t peer = FI_ADDR_UNSPEC;
  const int added =
      fi_av_insert(addresses_.get(), address.data(), 1, &peer, 0, nullptr);
  if (added == 1) return peers_[std::string(address)] = FabricPeer{peer};
  return absl::InvalidArgumentError(
      fmt::format("the provider {} does not know an address", name().provider));
}

absl::StatusOr<bool> LibfabricEndpoint::Write(const FabricWrite& write,
                                              WriteTicket* ticket) {
  std::array<iovec, 2> parts{};
  size_t num_parts = 0;
  for (const std::string_view part : {write.first, write.second}) {
    if (part.empty()) continue;
    parts[num_parts++] = {const_cast<char*>(part.data()), part.size()};
  }
  void* descriptor = fi_mr_desc(memory_.get());
  std::array<void*, 2> descriptors = {descriptor, descriptor};
  fi_rma_iov target{};
  target.addr = write.target.address;
  target.len = write.first.size() + write.second.size();
  target.key = write.target.key;
  fi_msg_rma message{};
  message.msg_iov = parts.data();
  message.desc = descriptors.data();
  message.iov_count = num_parts;
  message.addr = static_cast<fi_addr_t>(write.peer);
  message.rma_iov = &target;
  message.rma_iov_count = 1;
  message.context = ticket;
  message.data = write.notice;
  const ssize_t result =
      fi_writemsg(endpoint_.get(), &message, FI_REMOTE_CQ_DATA | FI_COMPLETION);
  if (result == 0) return true;
  if (result == -FI_EAGAIN) return false;
  return absl::UnavailableError(library_.ErrorText(result));
}

absl::Status LibfabricEndpoint::ReadError(
    std::vector<FabricCompletion>* completions) {
  fi_cq_err_entry error{};
  const ssize_t count = fi_cq_readerr(queue_.get(), &error, 0);
  if (count == -FI_EAGAIN) return absl::OkStatus();
  ASTRA_RETURN_IF_ERROR(Check("read completions", count));
  const bool is_write = (error.flags & FI_WRITE) != 0;
  if (is_write && error.op_context != nullptr) {
    completions->push_back(
        {.kind = FabricCompletion::Kind::kFailed,
         .ticket = static_cast<WriteTicket*>(error.op_context),
         .notice = 0});
    return absl::OkStatus();
  }
  return absl::UnavailableError(
      fmt::format("{} of libfabric's provider {} fails: {}", name().device,
                  name().provider, library_.ErrorText(error.err)));
}

absl::Status LibfabricEndpoint::Poll(
    std::vector<FabricCompletion>* completions) {
  // The next call reads what remains, so that other work has its turn.
  constexpr int kRounds = 16;
  std::array<fi_cq_data_entry, 64> entries{};
  for (int round = 0; round < kRounds; ++round) {
    const ssize_t count =
        fi_cq_read(queue_.get(), entries.data(), entries.size());
    if (count == -FI_EAGAIN) return absl::OkStatus();
    if (count == -FI_EAVAIL) {
      ASTRA_RETURN_IF_ERROR(ReadError(completions));
      continue;
    }
    ASTRA_RETURN_IF_ERROR(Check("read completions", count));
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const fi_cq_data_entry& entry = entries[i];
      const bool is_notice = (entry.flags & FI_REMOTE_CQ_DATA) != 0;
      completions->push_back(
          {.kind = is_notice ? FabricCompletion::Kind::kNotice
                             : FabricCompletion::Kind::kWritten,
           .ticket = is_notice ? nullptr
                               : static_cast<WriteTicket*>(entry.op_context),
           .notice = static_cast<uint32_t>(entry.data)});
    }
  }
  return absl::OkStatus();
}

bool LibfabricEndpoint::MayWait() {
  fid* waited_for = &queue_->fid;
  return descriptor_ >= 0 && fi_trywait(fabric_.get(), &waited_for, 1) == 0;
}

}  // namespace

absl::Status CheckFabricIsBuilt() { return absl::OkStatus(); }

absl::StatusOr<std::unique_ptr<FabricEndpoint>> OpenFabricEndpoint(
    const DeviceWish& wish) {
  ASTRA_ASSIGN_OR_RETURN(const Libfabric library, LoadLibfabric());
  ASTRA_ASSIGN_OR_RETURN(FabricInfo info, ChooseDevice(library, wish));
  auto endpoint = std::make_unique<LibfabricEndpoint>(library, std::move(info));
  ASTRA_RETURN_IF_ERROR(endpoint->Open());
  return endpoint;
}

}  // namespace astra
