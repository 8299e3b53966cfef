/* Usage: one_estimate SYSTEM OP BYTES RANKS */

#include <inttypes.h>
#include <simai/simai_collectives.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  simai_collective_estimate estimate;
  char error[512];
  if (argc != 5) {
    fprintf(stderr, "usage: one_estimate SYSTEM OP BYTES RANKS\n");
    return 2;
  }
  if (simai_estimate_collective(argv[1], argv[2], strtoimax(argv[3], NULL, 10),
                                atoi(argv[4]), 0, NULL, &estimate, error,
                                sizeof(error)) != 0) {
    fprintf(stderr, "one_estimate: %s\n", error);
    return 2;
  }
  printf("%s of %s bytes, %s GPUs of %s: %.1f us, busbw %.1f GB/s (%s, %s)\n",
         argv[2], argv[3], argv[4], argv[1], estimate.time_us,
         estimate.busbw_GBps, estimate.algorithm, estimate.protocol);
  return 0;
}
