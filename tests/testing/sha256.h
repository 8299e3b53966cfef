// SHA-256, to compare large files with hashes that others have published.
//
// Source: NIST, FIPS 180-4, "Secure Hash Standard", 2015.

#ifndef TESTS_TESTING_SHA256_H_
#define TESTS_TESTING_SHA256_H_

#include <string>
#include <string_view>

namespace astra::testing {

// The hash of `text` in lower-case hexadecimal, as sha256sum prints it.
std::string Sha256(std::string_view text);

}  // namespace astra::testing

#endif  // TESTS_TESTING_SHA256_H_
