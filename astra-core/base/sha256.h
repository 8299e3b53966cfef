// Computes SHA-256, to compare large files with published hashes.
//
// Source: NIST, FIPS 180-4, "Secure Hash Standard", 2015.

#ifndef ASTRA_CORE_BASE_SHA256_H_
#define ASTRA_CORE_BASE_SHA256_H_

#include <string>
#include <string_view>

namespace astra {

// Returns the hash of `text` in lower-case hexadecimal, as sha256sum prints it.
std::string Sha256(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_SHA256_H_
