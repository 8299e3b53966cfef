// Digits as texts of measurements have them: of ASCII, whatever the locale.

#ifndef COLLECTIVES_MEASUREMENTS_DIGITS_H_
#define COLLECTIVES_MEASUREMENTS_DIGITS_H_

namespace astra {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_DIGITS_H_
