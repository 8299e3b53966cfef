// A place in an XML file.

#ifndef ASTRA_CORE_XML_XML_PLACE_H_
#define ASTRA_CORE_XML_XML_PLACE_H_

#include <cstdint>

namespace astra {

// Line and column, counted from 1.
struct XmlPlace {
  uint32_t line = 1;
  uint32_t column = 1;
};

}  // namespace astra

#endif  // ASTRA_CORE_XML_XML_PLACE_H_
