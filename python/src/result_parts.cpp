#include "result_parts.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "saccade/maps.hpp"
#include "saccade/masks.hpp"

namespace saccade::python {
namespace {

Array<bool> bitmaps(const Masks& self) {
  const Result& result = self.get();
  const auto width = static_cast<std::size_t>(result.width);
  const auto height = static_cast<std::size_t>(result.height);
  const std::size_t objects = result.detections.size();
  std::vector<std::uint8_t> pixels(objects * width * height);
  auto* to = pixels.data();
  for (const Detection& detection : result.detections) {
    const Image bitmap = to_bitmap(Masks::of(detection), result.width, result.height);
    to = std::ranges::transform(bitmap.samples(), to, [](std::uint8_t sample) { return sample != 0; }).out;
  }
  return owning_array<bool>(std::move(pixels), {objects, height, width});
}

nb::typed<nb::list, Dictionary> run_lengths(const Masks& self) {
  const Result& result = self.get();
  nb::list list;
  for (const Detection& detection : result.detections) {
    nb::dict mask;
    mask["size"] = nb::make_tuple(result.height, result.width);
    mask["counts"] = to_coco_counts(Masks::of(detection), result.width, result.height);
    list.append(mask);
  }
  return list;
}

using Rings = nb::typed<nb::list, Array<std::int32_t>>;

nb::object ring_array(const Ring& ring) {
  static_assert(sizeof(ContourPoint) == 2 * sizeof(std::int32_t));
  return nb::cast(owning_array<std::int32_t>(ring, {ring.size(), 2}));
}

/// By object, polygon: the outline, then the holes.
nb::typed<nb::list, nb::typed<nb::list, Rings>> polygons(const Masks& self) {
  nb::list objects;
  for (const Detection& detection : self.get().detections) {
    nb::list parts;
    for (const Polygon& polygon : to_polygons(Masks::of(detection))) {
      nb::list rings;
      rings.append(ring_array(polygon.outline));
      for (const Ring& hole : polygon.holes) rings.append(ring_array(hole));
      parts.append(rings);
    }
    objects.append(parts);
  }
  return objects;
}

std::vector<std::int64_t> areas(const Masks& self) {
  std::vector<std::int64_t> areas;
  for (const Detection& detection : self.get().detections) areas.push_back(Masks::of(detection).area);
  return areas;
}

template <typename Map>
auto cells(const PyMap<Map>& self) {
  const auto rows = static_cast<std::size_t>(self.map->place.rows);
  return shared_array(self.map->cells.data(), {rows, static_cast<std::size_t>(self.map->place.columns)}, self.result);
}

/// At the resolution of the frame.
template <typename Map>
auto map_pixels(const PyMap<Map>& self) {
  using T = typename decltype(Map::cells)::value_type;
  const Result& result = nb::cast<const PyResult&>(self.result).get();
  const auto width = static_cast<std::size_t>(result.width);
  const auto height = static_cast<std::size_t>(result.height);
  std::vector<T> pixels(width * height);
  to_pixels(*self.map, result.width, result.height, pixels);
  return owning_array<T>(std::move(pixels), {height, width});
}

}  // namespace

std::optional<Masks> masks(nb::handle self) {
  const Result& result = nb::cast<const PyResult&>(self).get();
  if (result.task != Task::kSegment && (result.detections.empty() || !result.detections.front().mask))
    return std::nullopt;
  return Masks{nb::borrow(self)};
}

std::vector<PyClassification> classes(const PyResult& self) {
  std::vector<PyClassification> classes;
  for (const Classification& found : self.get().classes)
    classes.push_back({found.class_id, std::string(found.class_name), found.confidence});
  return classes;
}

std::vector<PySegment> segments(const PyResult& self) {
  std::vector<PySegment> segments;
  for (const Segment& segment : self.get().segments)
    segments.push_back({segment.class_id, std::string(segment.class_name), segment.pixels});
  return segments;
}

void define_parts(nb::module_& module) {
  nb::class_<PyClassification>(module, "Classification", "A class of the whole image.")
      .def_ro("class_id", &PyClassification::class_id, "Index of the model's labels.")
      .def_ro("class_name", &PyClassification::class_name, "Empty where the model has no labels.")
      .def_ro("confidence", &PyClassification::confidence, "0 to 1.")
      .def("__repr__", [](const PyClassification& self) {
        return "<" + self.class_name + " " + std::to_string(self.confidence) + ">";
      });
  nb::class_<PySegment>(module, "Segment", "A class of a class map.")
      .def_ro("class_id", &PySegment::class_id, "Index of the model's labels.")
      .def_ro("class_name", &PySegment::class_name, "Empty where the model has no labels.")
      .def_ro("pixels", &PySegment::pixels, "Of the frame.");
  nb::class_<Masks>(module, "Masks", "The masks of a result's objects, in their order.")
      .def("__len__", [](const Masks& self) { return self.get().detections.size(); })
      .def_prop_ro("bitmaps", bitmaps, nb::rv_policy::automatic, "bool, (objects, height, width): a copy.")
      .def_prop_ro("rle", run_lengths,
                   "COCO's compressed run lengths: dicts of \"size\" (height, width) and \"counts\".")
      .def_prop_ro(
          "polygons", polygons,
          "By object, a list of polygons, each a list of int32 arrays (points, 2): the outline, then the holes. "
          "Points are corners of pixels.")
      .def_prop_ro("areas", areas, "Pixels of each mask.");
  nb::class_<PyMap<ClassMap>>(module, "ClassMap", "The class of every pixel.")
      .def_prop_ro("cells", cells<ClassMap>, nb::rv_policy::automatic,
                   "int32, at the model's resolution; -1: no class. Shared memory.")
      .def("pixels", map_pixels<ClassMap>, "int32, (height, width) of the frame; -1: no class. A copy.")
      .def_prop_ro(
          "background", [](const PyMap<ClassMap>& self) { return self.map->background; },
          "The class that is the background; -1: none.");
  nb::class_<PyMap<DepthMap>>(module, "DepthMap", "The depth of every pixel.")
      .def_prop_ro("cells", cells<DepthMap>, nb::rv_policy::automatic,
                   "float32, at the model's resolution. Shared memory.")
      .def("pixels", map_pixels<DepthMap>,
           "float32, (height, width) of the frame; NaN outside of the model's input. A copy.")
      .def_prop_ro(
          "kind", [](const PyMap<DepthMap>& self) { return to_string(self.map->kind); },
          "\"relative\" (larger is farther), \"metric\" (metres) or \"inverse\" (larger is nearer).")
      .def_prop_ro(
          "min", [](const PyMap<DepthMap>& self) { return self.map->min; },
          "Of the finite cells inside the frame, NaN without any; in metres where the kind is \"metric\", else without "
          "unit.")
      .def_prop_ro(
          "max", [](const PyMap<DepthMap>& self) { return self.map->max; }, "As min.")
      .def_prop_ro(
          "mean", [](const PyMap<DepthMap>& self) { return self.map->mean; }, "As min.");
}

}  // namespace saccade::python
