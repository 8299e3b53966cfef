// The Python module `simai`:
//
//   import simai
//   result = simai.simulate(model, strategy, system)
//   result["summary"]["duration_ms"]
//
// Each argument is a dict with the contents of a file of SimuMax, or the path
// of one. The result is a dict with the contents of the files that
// simai_planner --simumax writes, by their names, a summary, and the list of
// warnings; see planner/simumax/result_json.h. Input that is refused raises
// ValueError with the message that the program prints.

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/apps/python/simulate_texts.h"
#include "astra-core/base/files.h"
#include "pybind11/pybind11.h"

namespace astra {
namespace {

namespace py = pybind11;

constexpr char kHelp[] =
    "Predicts a training iteration from a model, a strategy and a system of "
    "SimuMax.\n"
    "\n"
    "Each argument is a dict, or the path of a JSON file. Returns a dict with "
    "\"summary\",\n"
    "\"compute_result\", \"mem_result\", \"base_info\", \"net_info\", "
    "\"efficiency\" and \"warnings\".\n"
    "Raises ValueError for input that is refused.";

// Returns the value of `result`, or raises ValueError.
template <class Value>
Value ValueOf(absl::StatusOr<Value> result) {
  if (result.ok()) return *std::move(result);
  throw py::value_error(std::string(result.status().message()));
}

JsonText TextOf(const py::object& argument, std::string_view name) {
  if (py::isinstance<py::dict>(argument)) {
    const py::object text = py::module_::import("json").attr("dumps")(argument);
    return {std::string(name), text.cast<std::string>()};
  }
  const bool is_path =
      py::isinstance<py::str>(argument) || py::hasattr(argument, "__fspath__");
  if (!is_path) {
    throw py::type_error(
        std::string(name) + " is of type " +
        py::str(argument.get_type().attr("__name__")).cast<std::string>() +
        ": expected a dict or a path");
  }
  const auto path =
      py::module_::import("os").attr("fspath")(argument).cast<std::string>();
  return {path, ValueOf(ReadFile(path))};
}

py::dict SimulateFiles(const py::object& model, const py::object& strategy,
                       const py::object& system) {
  const JsonText texts[] = {TextOf(model, "model"),
                            TextOf(strategy, "strategy"),
                            TextOf(system, "system")};
  absl::StatusOr<std::string> json;
  {
    const py::gil_scoped_release others_may_run;
    json = SimulateTexts(texts[0], texts[1], texts[2]);
  }
  return py::module_::import("json").attr("loads")(ValueOf(std::move(json)));
}

}  // namespace
}  // namespace astra

PYBIND11_MODULE(simai, module) {
  module.doc() = "Predicts iterations of training, as simai_planner does.";
  module.attr("__version__") = SIMAI_CPP_VERSION;
  module.def("simulate", &astra::SimulateFiles, pybind11::arg("model"),
             pybind11::arg("strategy"), pybind11::arg("system"), astra::kHelp);
}
