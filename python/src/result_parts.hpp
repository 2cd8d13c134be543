#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "result.hpp"

namespace saccade::python {

/// The masks of a result's objects.
struct Masks {
  nb::object result;  ///< keeps the runs alive

  const Result& get() const { return nb::cast<const PyResult&>(result).get(); }
  static Mask of(const Detection& detection) { return detection.mask.value_or(Mask{}); }
};

/// Those of the result SELF; nullopt if its model has none.
std::optional<Masks> masks(nb::handle self);

/// A map of a result at the resolution of the model.
template <typename Map>
struct PyMap {
  nb::object result;  ///< keeps the cells alive
  const Map* map;
};

/// MAP of the result SELF; nullopt if its model has none.
template <typename Map>
std::optional<PyMap<Map>> map_of(nb::handle self, const Map& map) {
  if (map.cells.empty()) return std::nullopt;
  return PyMap<Map>{nb::borrow(self), &map};
}

/// A class of the whole image, which outlives its result.
struct PyClassification {
  int class_id;
  std::string class_name;
  float confidence;
};

std::vector<PyClassification> classes(const PyResult& self);

/// A class of a class map, which outlives its result.
struct PySegment {
  int class_id;
  std::string class_name;
  std::int64_t pixels;
};

std::vector<PySegment> segments(const PyResult& self);

/// Adds the types of Result's properties to MODULE.
void define_parts(nb::module_& module);

}  // namespace saccade::python
