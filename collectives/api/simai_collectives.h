/* How long a collective takes on a GPU cluster, for programs in C, or in any
 * language that calls C; simai_collectives.hpp is the same for C++.
 *
 *   simai_collective_estimate estimate;
 *   char error[256];
 *   if (simai_estimate_collective("dgx-h100", "all_reduce", 1 << 30, 16, 0,
 *                                 NULL, &estimate, error, sizeof(error)) != 0)
 * { fprintf(stderr, "%s\n", error);
 *   }
 *
 * A function that can fail returns 0, or SIMAI_BAD_INPUT with one line that
 * says why in `error`, a buffer of `error_size` bytes. The line is cut at the
 * end of a UTF-8 character where it is longer, and always ends in NUL; on
 * success it is empty. `error` may be NULL if `error_size` is 0.
 *
 * There is no global state, and nothing is read from the environment. All
 * functions may be called from several threads at once, with the same
 * estimator, too. */

#ifndef COLLECTIVES_API_SIMAI_COLLECTIVES_H_
#define COLLECTIVES_API_SIMAI_COLLECTIVES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIMAI_BAD_INPUT 2

/* NOLINTNEXTLINE(readability-identifier-naming): a name of C. */
typedef struct simai_collective_estimate {
  double time_us;
  double algbw_GBps;    /* Buffer size over time, in 10^9 bytes a second. */
  double busbw_GBps;    /* As nccl-tests defines it. */
  int channels;         /* Of NCCL. */
  int is_latency_bound; /* 1 if more than half of the time is not transfer. */
  char algorithm[32];   /* "Ring", as NCCL names it; "P2P": sends, receives. */
  char protocol[16];    /* "LL", "LL128" or "Simple". */
  char bottleneck[96];  /* The link that sets the pace. */
} simai_collective_estimate;

/* The time of one collective of `ranks` GPUs, two or more, on `system`: a name
 * or an alias ("dgx-h100", "p5.48xlarge"), or the path of a file that describes
 * one, with a "/" or ending in .yaml.
 *
 * `op` has its name in nccl-tests: all_reduce, all_gather, reduce_scatter,
 * alltoall, sendrecv, broadcast, reduce, gather, scatter. `bytes` is the size
 * that nccl-tests prints: of the larger of the buffers that a rank sends and
 * receives. `ranks_per_server` is 0 for as many as the system has.
 * `nccl_options` are variables of NCCL, "NCCL_ALGO=Ring,NCCL_PROTO=Simple";
 * NULL is none.
 *
 * Writes `*out` only on success. */
int simai_estimate_collective(const char* system, const char* op, int64_t bytes,
                              int ranks, int ranks_per_server,
                              const char* nccl_options,
                              simai_collective_estimate* out, char* error,
                              size_t error_size);

/* The ranks of a system, for many estimates: the cluster is laid out once. */
typedef struct simai_estimator simai_estimator;

/* Arguments as above. Returns NULL where the others return SIMAI_BAD_INPUT;
 * what it returns otherwise is to be given to simai_estimator_free. */
simai_estimator* simai_estimator_create(const char* system, int ranks,
                                        int ranks_per_server,
                                        const char* nccl_options, char* error,
                                        size_t error_size);

int simai_estimator_estimate(simai_estimator* estimator, const char* op,
                             int64_t bytes, simai_collective_estimate* out,
                             char* error, size_t error_size);

/* NULL is allowed. */
void simai_estimator_free(simai_estimator* estimator);

/* Of the library, such as "0.1.0". */
const char* simai_version(void);

#ifdef __cplusplus
}
#endif

#endif /* COLLECTIVES_API_SIMAI_COLLECTIVES_H_ */
