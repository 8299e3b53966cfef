#include "workload/traces/chakra_attributes.h"

#include <string>
#include <variant>

namespace astra {

std::optional<int64_t> ChakraAttributes::Integer(std::string_view name,
                                                 int64_t most) const {
  const ChakraAttribute* found = Find(name);
  if (found == nullptr) return std::nullopt;
  int64_t number = -1;
  if (const auto* flag = std::get_if<bool>(&found->value)) number = *flag;
  if (const auto* whole = std::get_if<int64_t>(&found->value)) number = *whole;
  if (number < 0 || number > most) return std::nullopt;
  return number;
}

double ChakraAttributes::Number(std::string_view name) const {
  const ChakraAttribute* found = Find(name);
  if (found == nullptr) return 0;
  if (const auto* real = std::get_if<double>(&found->value)) {
    return *real > 0 ? *real : 0;
  }
  return static_cast<double>(Integer(name).value_or(0));
}

std::string_view ChakraAttributes::Text(std::string_view name) const {
  const ChakraAttribute* found = Find(name);
  if (found == nullptr) return "";
  const auto* text = std::get_if<std::string>(&found->value);
  return text == nullptr ? std::string_view() : *text;
}

const ChakraAttribute* ChakraAttributes::Find(std::string_view name) const {
  for (const ChakraAttribute& attribute : node_.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

}  // namespace astra
