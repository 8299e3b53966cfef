/* Estimates how long a collective takes on a GPU cluster, for programs in C or
 * in any language that calls C; simai_collectives.hpp is the same for C++.
 *
 *   simai_collective_estimate estimate;
 *   char error[256];
 *   int result = simai_estimate_collective("dgx-h100", "all_reduce", 1 << 30,
 *                                          16, 0, NULL, &estimate, error,
 *                                          sizeof(error));
 *   if (result != 0) fprintf(stderr, "%s\n", error);
 *
 * A function that can fail returns 0, or SIMAI_BAD_INPUT with one line in
 * `error`, a buffer of `error_size` bytes, that gives the reason. The line
 * always ends in NUL; if it is too long, it is cut at the end of a UTF-8
 * character. On success it is empty. `error` may be NULL if `error_size` is 0.
 *
 * There is no global state, and nothing is read from the environment. All
 * functions may be called from several threads at once, even with the same
 * estimator. */

#ifndef COLLECTIVES_API_SIMAI_COLLECTIVES_H_
#define COLLECTIVES_API_SIMAI_COLLECTIVES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIMAI_BAD_INPUT 2

/* NOLINTNEXTLINE(readability-identifier-naming): C spelling. */
typedef struct simai_collective_estimate {
  double time_us;
  double algbw_GBps;    /* Buffer size over time, in 10^9 bytes/s. */
  double busbw_GBps;    /* Bus bandwidth of nccl-tests, 10^9 bytes/s. */
  int channels;         /* Channels that NCCL uses. */
  int is_latency_bound; /* 1 if more than half of the time is not transfer. */
  char algorithm[32];   /* NCCL's name: "Ring"; "P2P": sends, receives. */
  char protocol[16];    /* "LL", "LL128" or "Simple". */
  char bottleneck[96];  /* The link that sets the pace. */
} simai_collective_estimate;

/* Estimates one collective of `ranks` GPUs, two or more. `system` is a name or
 * an alias ("dgx-h100", "p5.48xlarge"), or the path of a file that describes a
 * system; a path has a "/" or ends in .yaml.
 *
 * `op` is a name of nccl-tests: all_reduce, all_gather, reduce_scatter,
 * alltoall, sendrecv, broadcast, reduce, gather, scatter; or one of the
 * all-to-alls of expert parallelism, dispatch or combine. `bytes` is the size
 * that nccl-tests prints: the size of the larger of a rank's send and receive
 * buffers. `ranks_per_server` is 0 for as many as the system has.
 * `nccl_options` are variables of NCCL, "NCCL_ALGO=Ring,NCCL_PROTO=Simple";
 * NULL means none.
 *
 * Writes `*out` only on success. */
int simai_estimate_collective(const char* system, const char* op, int64_t bytes,
                              int ranks, int ranks_per_server,
                              const char* nccl_options,
                              simai_collective_estimate* out, char* error,
                              size_t error_size);

/* An estimator lays out the cluster once for many estimates. */
typedef struct simai_estimator simai_estimator;

/* Creates an estimator; see simai_estimate_collective for the arguments.
 * Returns NULL on bad input; any other result must be passed to
 * simai_estimator_free. */
simai_estimator* simai_estimator_create(const char* system, int ranks,
                                        int ranks_per_server,
                                        const char* nccl_options, char* error,
                                        size_t error_size);

int simai_estimator_estimate(simai_estimator* estimator, const char* op,
                             int64_t bytes, simai_collective_estimate* out,
                             char* error, size_t error_size);

/* Frees an estimator; NULL is allowed. */
void simai_estimator_free(simai_estimator* estimator);

/* Returns the version of the library, such as "0.1.0". */
const char* simai_version(void);

#ifdef __cplusplus
}
#endif

#endif /* COLLECTIVES_API_SIMAI_COLLECTIVES_H_ */
