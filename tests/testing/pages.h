// What tests of HTML pages share.

#ifndef TESTS_TESTING_PAGES_H_
#define TESTS_TESTING_PAGES_H_

#include <cstddef>
#include <string>

namespace astra::testing {

// Returns `page` without the charting library, whose text is not ours.
// tests/scripts/report_pages_test.py shows that it asks for nothing.
inline std::string WithoutLibrary(std::string page) {
  const size_t begin = page.find("/*! Apache ECharts");
  if (begin == std::string::npos) return page;
  return page.erase(begin, page.find("</script>", begin) - begin);
}

}  // namespace astra::testing

#endif  // TESTS_TESTING_PAGES_H_
