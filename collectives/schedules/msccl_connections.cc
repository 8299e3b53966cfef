#include "collectives/schedules/msccl_connections.h"

#include <map>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

class Connector {
 public:
  Connector(std::string_view file, const MscclAlgorithm& algorithm)
      : file_(file) {
    for (uint32_t gpu = 0; gpu < algorithm.gpus.size(); ++gpu) {
      for (const MscclBlock& block : algorithm.gpus[gpu].blocks) {
        blocks_.push_back({gpu, &block});
      }
    }
  }

  absl::StatusOr<MscclConnections> Connect() {
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const auto& [gpu, block] = blocks_[b];
      std::optional<size_t>& sends = result_.sends_to.emplace_back();
      std::optional<size_t>& receives = result_.receives_from.emplace_back();
      if (block->send) {
        sends = Find(gpu, *block->send, block->channel);
        ASTRA_RETURN_IF_ERROR(
            Attach(b, "sends to", *block->send, result_.ends[*sends].sender));
      }
      if (block->receive) {
        receives = Find(*block->receive, gpu, block->channel);
        ASTRA_RETURN_IF_ERROR(Attach(b, "receives from", *block->receive,
                                     result_.ends[*receives].receiver));
      }
    }
    for (const MscclConnections::Ends& ends : result_.ends) {
      ASTRA_RETURN_IF_ERROR(CheckMessages(ends));
    }
    return std::move(result_);
  }

 private:
  struct Block {
    uint32_t gpu;
    const MscclBlock* code;
  };
  using Steps = std::vector<const MscclStep*>;

  size_t Find(uint32_t source, uint32_t target, uint16_t channel) {
    const auto [found, is_new] = position_.emplace(
        std::tuple(source, target, channel), result_.ends.size());
    if (is_new) result_.ends.emplace_back();
    return found->second;
  }

  absl::Status Attach(size_t block, std::string_view verb, uint32_t peer,
                      std::optional<size_t>& end) const {
    const MscclBlock& code = *blocks_[block].code;
    if (end) {
      return Error(
          code.place,
          fmt::format("{} {} gpu {} on channel {}, as {} does", NameOf(block),
                      verb, peer, code.channel, NameOf(*end)));
    }
    end = block;
    return absl::OkStatus();
  }

  Steps StepsOf(std::optional<size_t> block, bool (*is_one)(MscclOp)) const {
    Steps steps;
    if (!block) return steps;
    for (const MscclStep& step : blocks_[*block].code->steps) {
      if (is_one(step.op)) steps.push_back(&step);
    }
    return steps;
  }

  absl::Status CheckMessages(const MscclConnections::Ends& ends) const {
    const Steps sends = StepsOf(ends.sender, Sends);
    const Steps receives = StepsOf(ends.receiver, Receives);
    if (sends.size() != receives.size()) {
      return ends.sender
                 ? CountError(*ends.sender, "sends", sends.size(),
                              ends.receiver, "receives", receives.size())
                 : CountError(*ends.receiver, "receives", receives.size(),
                              ends.sender, "sends", sends.size());
    }
    for (size_t i = 0; i < sends.size(); ++i) {
      if (sends[i]->count == receives[i]->count) continue;
      return Error(sends[i]->place,
                   fmt::format("{} sends {} chunk(s), but {} receives {} in "
                               "line {}",
                               NameOf(*ends.sender), sends[i]->count,
                               NameOf(*ends.receiver), receives[i]->count,
                               receives[i]->place.line));
    }
    return absl::OkStatus();
  }

  absl::Status CountError(size_t block, std::string_view verb, size_t count,
                          std::optional<size_t> other,
                          std::string_view other_verb,
                          size_t other_count) const {
    const MscclBlock& code = *blocks_[block].code;
    const uint32_t peer = verb == "sends" ? *code.send : *code.receive;
    return Error(
        code.place,
        fmt::format("{} {} {} message(s) on channel {}, but {} {} {}",
                    NameOf(block), verb, count, code.channel,
                    other ? NameOf(*other) : fmt::format("gpu {}", peer),
                    other_verb, other_count));
  }

  std::string NameOf(size_t block) const {
    return NameOfBlock(blocks_[block].gpu, *blocks_[block].code);
  }

  absl::Status Error(XmlPlace place, std::string_view message) const {
    return absl::InvalidArgumentError(
        fmt::format("{}:{}:{}: {}", file_, place.line, place.column, message));
  }

  std::string_view file_;
  std::vector<Block> blocks_;
  std::map<std::tuple<uint32_t, uint32_t, uint16_t>, size_t> position_;
  MscclConnections result_;
};

}  // namespace

absl::StatusOr<MscclConnections> ConnectMsccl(std::string_view file,
                                              const MscclAlgorithm& algorithm) {
  return Connector(file, algorithm).Connect();
}

std::string NameOfBlock(uint32_t gpu, const MscclBlock& block) {
  return fmt::format("thread block {} of gpu {}", block.id, gpu);
}

}  // namespace astra
