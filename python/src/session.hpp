#pragma once

#include <nanobind/nanobind.h>

namespace saccade::python {

namespace nb = nanobind;

/// Adds Session to MODULE.
void define_session(nb::module_& module);

}  // namespace saccade::python
