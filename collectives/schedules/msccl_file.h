// Reads algorithms of MSCCL (github.com/microsoft/msccl) from the XML files
// that msccl-tools writes:
//
//   <algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2"
//         coll="allgather" inplace="1">
//     <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
//       <tb id="0" send="1" recv="1" chan="0">
//         <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0"
//               cnt="1" depid="-1" deps="-1" hasdep="0"/>
//         <step s="1" type="r" .../>
//
// clang-format off
//   coll            allreduce, allgather, reduce_scatter, alltoall, broadcast or
//                   reduce; the root is GPU 0
//   nchunksperloop  chunks of the larger of a GPU's input and output
//   inplace         1 if the smaller of the two lies in the larger
//   send, recv      the peers of a thread block, or -1
//   type            see MscclOp
//   srcbuf, dstbuf  i, o, s (input, output, scratch), with offsets in chunks
//   depid, deps     thread block and step of this GPU to wait for, or -1
// clang-format on
//
// proto, hasdep, outofplace, minBytes, maxBytes, nthreads, nthreadblocks and
// maxcount are known and have no effect: a file does not choose how fast a
// protocol is, nor for which sizes it is used.
//
// Source: microsoft/msccl, src/graph/topo.cc; microsoft/msccl-tools,
// msccl/language/ir.py.

#ifndef COLLECTIVES_SCHEDULES_MSCCL_FILE_H_
#define COLLECTIVES_SCHEDULES_MSCCL_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "collectives/schedules/custom_schedule.h"

namespace astra {

// Reads an algorithm. Since other tools write these files, unknown attributes
// and elements are not errors. Each is in `warnings` once, at its first place.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for text that is not XML, an
// attribute that is missing or not of the format above, and numbers beyond the
// limits; also the errors of RunMsccl.
absl::StatusOr<CustomSchedule> ParseMsccl(std::string_view file,
                                          std::string_view contents,
                                          Warnings* warnings);

// Applies ParseMsccl to the file `path`. Errors: also those of ReadFile.
absl::StatusOr<CustomSchedule> ReadMsccl(const std::string& path,
                                         Warnings* warnings);

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_MSCCL_FILE_H_
