#pragma once

#include <nanobind/nanobind.h>

namespace saccade::python {

namespace nb = nanobind;

/// Adds Pipeline to MODULE.
void define_pipeline(nb::module_& module);

}  // namespace saccade::python
