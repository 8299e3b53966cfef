// How long prompts and outputs of synthetic requests are.
//
// The distributions uniform and Zipf, and their defaults, are Vidur's
// (microsoft/vidur, vidur/config/config.py): the whole length is drawn from
// [min_tokens, max_tokens] and then split. Zipf's numbers come from J. Gray et
// al., "Quickly generating billion-record synthetic databases", SIGMOD 1994.

#ifndef WORKLOAD_SERVING_REQUEST_LENGTHS_H_
#define WORKLOAD_SERVING_REQUEST_LENGTHS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace astra {

enum class LengthDistribution {
  kFixed,    // prompt_tokens and output_tokens.
  kUniform,  // The whole length; split by prompt_to_output.
  kZipf,     // The same; short ones are the most frequent.
  kGamma,    // Each by its mean and coefficient of variation.
};

struct LengthOptions {
  LengthDistribution distribution = LengthDistribution::kFixed;
  int64_t prompt_tokens = 2048;  // fixed; gamma: the mean.
  int64_t output_tokens = 512;
  double prompt_cv = 1;  // gamma: deviation over mean, before the limit.
  double output_cv = 1;
  int64_t min_tokens = 1024;     // uniform, zipf: of prompt and output.
  int64_t max_tokens = 4096;     // The same; gamma: of each of the two.
  double prompt_to_output = 20;  // uniform, zipf.
  double theta = 0.6;            // zipf: the exponent, above 0 and below 1.
};

struct RequestLengths {
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;
};

class LengthGenerator {
 public:
  // Errors: FieldError about the option that is out of its range.
  static absl::StatusOr<LengthGenerator> Create(const LengthOptions& options);

  // Returns the lengths of request `index`; all are at least 1.
  RequestLengths Draw(uint64_t seed, int64_t index) const;

 private:
  explicit LengthGenerator(const LengthOptions& options);
  int64_t DrawZipf(double uniform) const;

  LengthOptions options_;
  double zeta_ = 0;  // Sum of i^-theta over all lengths.
  double eta_ = 0;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_REQUEST_LENGTHS_H_
