// Requests and flows in few words, for the tests of single algorithms.

#ifndef TESTS_COLLECTIVES_ALGORITHMS_FLOWS_H_
#define TESTS_COLLECTIVES_ALGORITHMS_FLOWS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/registry.h"
#include "tests/testing/matchers.h"

namespace astra::testing {

inline CollectiveRequest Request(CollectiveKind kind, int64_t bytes,
                                 GroupLayout layout,
                                 const Chunking& chunking = {}) {
  return ValueOrDie(
      ValueOrDie(CollectiveRequest::Create(
                     kind, Bytes(bytes),
                     std::make_shared<GroupLayout>(std::move(layout))))
          .With(chunking));
}

inline std::unique_ptr<const FlowGraph> LowerBy(
    std::string_view name, const CollectiveRequest& request) {
  return ValueOrDie(
      ValueOrDie(FindCollectiveAlgorithm(request.kind(), name)).lower(request));
}

inline absl::Status ErrorOf(std::string_view name,
                            const CollectiveRequest& request) {
  return ValueOrDie(FindCollectiveAlgorithm(request.kind(), name))
      .lower(request)
      .status();
}

// "source>target chunk:bytes", with + where the receiver reduces and the last
// chunk where there are several: "0>1 2:5B+", "0>1 2-4:15B".
inline std::string Text(const Flow& flow) {
  const uint32_t first = flow.first_chunk.index();
  const std::string last = flow.num_chunks > 1
                               ? fmt::format("-{}", first + flow.num_chunks - 1)
                               : "";
  return fmt::format("{}>{} {}{}:{}{}", flow.source, flow.target, first, last,
                     flow.bytes, flow.op == FlowOp::kReduce ? "+" : "");
}

inline std::vector<std::string> Texts(const FlowGraph& graph) {
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    texts.push_back(Text(graph.flow(FlowId(i))));
  }
  return texts;
}

// The flows that wait for flow `id`.
inline std::vector<uint64_t> Dependents(const FlowGraph& graph, uint64_t id) {
  std::vector<FlowId> flows;
  graph.AppendDependents(FlowId(id), &flows);
  std::vector<uint64_t> ids;
  for (const FlowId flow : flows) ids.push_back(flow.index());
  return ids;
}

}  // namespace astra::testing

#endif  // TESTS_COLLECTIVES_ALGORITHMS_FLOWS_H_
