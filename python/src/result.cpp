#include "result.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/chrono.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <chrono>
#include <vector>

#include "saccade/draw.hpp"
#include "saccade/error.hpp"
#include "saccade/maps.hpp"
#include "saccade/masks.hpp"

namespace saccade::python {
namespace {

constexpr auto kStep = static_cast<std::int64_t>(sizeof(Detection));

/// A column of the detections: WIDTH elements of each from the one that FIRST returns on.
template <typename First>
auto column(nb::handle self, const First& first, std::size_t width = 0) {
  const auto& detections = nb::cast<const PyResult&>(self).get().detections;
  using T = std::remove_cvref_t<decltype(*first(detections.front()))>;
  static_assert(kStep % sizeof(T) == 0);
  constexpr std::int64_t kElements = kStep / static_cast<std::int64_t>(sizeof(T));
  const T* data = detections.empty() ? nullptr : first(detections.front());
  if (width == 0) return shared_array(data, {detections.size()}, self, {kElements});
  return shared_array(data, {detections.size(), width}, self, {kElements, 1});
}

std::optional<Array<float>> keypoints(nb::handle self) {
  const Result& result = nb::cast<const PyResult&>(self).get();
  const auto& detections = result.detections;
  if (result.task != Task::kPose && (detections.empty() || detections.front().keypoints.empty())) return std::nullopt;
  static_assert(sizeof(Keypoint) == 3 * sizeof(float));
  const std::size_t points = detections.empty() ? 0 : detections.front().keypoints.size();
  const float* data = points == 0 ? nullptr : &detections.front().keypoints.front().x;
  // A clone has the keypoints of its objects one after the other.
  return shared_array(data, {detections.size(), points, 3}, self);
}

std::optional<Array<float>> oriented_boxes(nb::handle self) {
  const Result& result = nb::cast<const PyResult&>(self).get();
  if (result.task != Task::kOriented && (result.detections.empty() || !result.detections.front().oriented))
    return std::nullopt;
  static_assert(sizeof(OrientedBox) == 5 * sizeof(float));
  return column(
      self, [](const Detection& detection) { return &detection.oriented->x; }, 5);
}

std::vector<int> category_ids(const PyResult& self) {
  std::vector<int> ids;
  for (const Detection& detection : self.get().detections) ids.push_back(self.category(detection.class_id));
  return ids;
}

std::vector<std::string_view> class_names(const PyResult& self) {
  std::vector<std::string_view> names;
  for (const Detection& detection : self.get().detections) names.push_back(detection.class_name);
  return names;
}

/// The masks of a result's objects.
struct Masks {
  nb::object result;  ///< keeps the runs alive

  const Result& get() const { return nb::cast<const PyResult&>(result).get(); }
  static Mask of(const Detection& detection) { return detection.mask.value_or(Mask{}); }
};

std::optional<Masks> masks(nb::handle self) {
  const Result& result = nb::cast<const PyResult&>(self).get();
  if (result.task != Task::kSegment && (result.detections.empty() || !result.detections.front().mask))
    return std::nullopt;
  return Masks{nb::borrow(self)};
}

Array<bool> bitmaps(const Masks& self) {
  const Result& result = self.get();
  const auto width = static_cast<std::size_t>(result.width);
  const auto height = static_cast<std::size_t>(result.height);
  const std::size_t objects = result.detections.size();
  std::vector<std::uint8_t> pixels(objects * width * height);
  auto* to = pixels.data();
  for (const Detection& detection : result.detections) {
    for (const MaskRun& run : Masks::of(detection).runs)
      std::fill_n(to + static_cast<std::size_t>(run.y) * width + static_cast<std::size_t>(run.x1), run.x2 - run.x1, 1);
    to += width * height;
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

/// A map of a result at the resolution of the model.
template <typename Map>
struct PyMap {
  nb::object result;  ///< keeps the cells alive
  const Map* map;
};

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

std::vector<PyClassification> classes(const PyResult& self) {
  std::vector<PyClassification> classes;
  for (const Classification& found : self.get().classes)
    classes.push_back({found.class_id, std::string(found.class_name), found.confidence});
  return classes;
}

/// A class of a class map, which outlives its result.
struct PySegment {
  int class_id;
  std::string class_name;
  std::int64_t pixels;
};

std::vector<PySegment> segments(const PyResult& self) {
  std::vector<PySegment> segments;
  for (const Segment& segment : self.get().segments)
    segments.push_back({segment.class_id, std::string(segment.class_name), segment.pixels});
  return segments;
}

std::optional<Array<float>> embedding(nb::handle self) {
  const auto vector = nb::cast<const PyResult&>(self).get().embedding;
  if (vector.empty()) return std::nullopt;
  return shared_array(vector.data(), {vector.size()}, self);
}

/// The generated image, RGB.
std::optional<Array<std::uint8_t>> generated_image(nb::handle self) {
  const FrameView& image = nb::cast<const PyResult&>(self).get().image;
  if (image.width == 0) return std::nullopt;
  return shared_array(image.planes[0],
                      {static_cast<std::size_t>(image.height), static_cast<std::size_t>(image.width), 3}, self,
                      {image.pitch_bytes[0], 3, 1});
}

std::optional<std::string> text(const PyResult& self) {
  const Result& result = self.get();
  if (result.task != Task::kText && result.text.empty()) return std::nullopt;
  return std::string(result.text);
}

nb::typed<nb::dict, nb::str, std::optional<double>> latency_ms(const PyResult& self) {
  const Latency& latency = self.get().latency;
  const auto ms = [](std::chrono::nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); };
  nb::dict times;
  times["sensor"] = latency.sensor ? nb::cast(ms(*latency.sensor)) : nb::none();
  times["capture"] = ms(latency.capture);
  times["queue"] = ms(latency.queue);
  times["pre"] = ms(latency.pre);
  times["model"] = ms(latency.model);
  times["post"] = ms(latency.post);
  times["total"] = ms(latency.total);
  return times;
}

std::vector<std::string_view> faults(const PyResult& self) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kFaults; ++i)
    if (self.get().faults.has(static_cast<Fault>(i))) names.push_back(to_string(static_cast<Fault>(i)));
  return names;
}

nb::typed<nb::list, Dictionary> zones(const PyResult& self) {
  nb::list list;
  for (const ZoneState& zone : self.get().zones) {
    nb::dict state;
    state["name"] = zone.name;
    state["kind"] = to_string(zone.kind);
    state["in"] = zone.in;
    state["out"] = zone.out;
    state["inside"] = zone.inside;
    list.append(state);
  }
  return list;
}

nb::typed<nb::list, Dictionary> zone_events(const PyResult& self) {
  nb::list list;
  for (const ZoneEvent& event : self.get().zone_events) {
    nb::dict happened;
    happened["zone"] = event.zone;
    happened["kind"] = to_string(event.kind);
    happened["track_id"] = event.track_id;
    happened["class_id"] = event.class_id;
    happened["class"] = event.class_name;
    happened["since_ns"] = event.since_ns;
    happened["seconds"] = std::chrono::duration<double>(event.stay).count();
    list.append(happened);
  }
  return list;
}

Image drawn(const PyResult& self) {
  nb::gil_scoped_release unlocked;
  return draw(self.frame(), {&self.get(), 1});
}

Array<std::uint8_t> plot(const PyResult& self, const std::optional<std::string>& color) {
  const PixelFormat format = color ? color_format(*color) : self.color();
  Image image = drawn(self);
  if (format == PixelFormat::kBgr24) image = convert(image.view(), format);
  return image_array(std::move(image));
}

Array<std::uint8_t> pixels(const PyResult& self, const std::optional<std::string>& color) {
  return image_array(convert(self.frame(), color ? color_format(*color) : self.color()));
}

nb::bytes jpeg(const PyResult& self) {
  const std::string bytes = encode_jpeg(drawn(self));
  return nb::bytes(bytes.data(), bytes.size());
}

std::string repr(const PyResult& self) {
  const Result& result = self.get();
  std::string text = "<saccade.Result " + std::string(to_string(result.task)) + ", " + std::to_string(result.width) +
                     "x" + std::to_string(result.height);
  if (!result.detections.empty()) text += ", " + std::to_string(result.detections.size()) + " detections";
  if (!result.classes.empty()) text += ", " + std::string(result.classes.front().class_name);
  return text + (result.invalid() ? ", invalid>" : ">");
}

void define_parts(nb::module_& module) {
  nb::class_<PyClassification>(module, "Classification", "A class of the whole image.")
      .def_ro("class_id", &PyClassification::class_id, "Index of the model's labels.")
      .def_ro("class_name", &PyClassification::class_name)
      .def_ro("confidence", &PyClassification::confidence, "0 to 1.")
      .def("__repr__", [](const PyClassification& self) {
        return "<" + self.class_name + " " + std::to_string(self.confidence) + ">";
      });
  nb::class_<PySegment>(module, "Segment", "A class of a class map.")
      .def_ro("class_id", &PySegment::class_id, "Index of the model's labels.")
      .def_ro("class_name", &PySegment::class_name)
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
      .def_prop_ro("min", [](const PyMap<DepthMap>& self) { return self.map->min; })
      .def_prop_ro("max", [](const PyMap<DepthMap>& self) { return self.map->max; })
      .def_prop_ro("mean", [](const PyMap<DepthMap>& self) { return self.map->mean; });
}

/// The function NAME of the package's conversions, which are written in Python.
nb::object conversion(const char* name) { return nb::module_::import_("saccade._convert").attr(name); }

/// A property of Result that is a field of its C++ type.
template <typename T>
auto field(T Result::*member) {
  return [member](const PyResult& self) { return self.get().*member; };
}

}  // namespace

const FrameView& PyResult::frame() const {
  if (image_.view.width == 0)
    throw Error(ErrorCode::kInvalidArgument, "the frame's pixels were not kept: open the Pipeline with frames=True");
  return image_.view;
}

int PyResult::category(int class_id) const {
  const auto at = static_cast<std::size_t>(class_id);
  return categories_ != nullptr && at < categories_->size() ? (*categories_)[at] : class_id;
}

void define_results(nb::module_& module) {
  define_parts(module);
  nb::class_<PyResult>(
      module, "Result",
      "The predictions of a model for an image. Arrays share its memory and keep it alive. Coordinates "
      "are pixels of the image.")
      .def_prop_ro(
          "boxes",
          [](nb::handle self) {
            return column(
                self, [](const auto& d) { return d.box.data(); }, 4);
          },
          "float32, (objects, 4): x1, y1, x2, y2.")
      .def_prop_ro(
          "confidence", [](nb::handle self) { return column(self, [](const auto& d) { return &d.confidence; }); },
          "float32, (objects,): 0 to 1, in descending order.")
      .def_prop_ro(
          "class_id", [](nb::handle self) { return column(self, [](const auto& d) { return &d.class_id; }); },
          "int32, (objects,).")
      .def_prop_ro("category_id", category_ids,
                   "By object: COCO's category where the labels are COCO's, else class_id.")
      .def_prop_ro("class_name", class_names, "By object; empty where the model has no labels.")
      .def_prop_ro(
          "track_id", [](nb::handle self) { return column(self, [](const auto& d) { return &d.track_id; }); },
          "int64, (objects,): from 1; 0: on no confirmed track.")
      .def_prop_ro("keypoints", keypoints,
                   "float32, (objects, points, 3): x, y, confidence; None if the model has none.")
      .def_prop_ro("obb", oriented_boxes,
                   "float32, (objects, 5): centre x, y, width, height and the angle in radians from the x axis towards "
                   "the y axis; None if the model has none.")
      .def_prop_ro("masks", masks, "None if the model has none.")
      .def_prop_ro("classes", classes, "Of the whole image, in descending order of confidence.")
      .def_prop_ro("segments", segments, "The classes in class_map, in descending order of size.")
      .def_prop_ro(
          "class_map", [](nb::handle self) { return map_of(self, nb::cast<const PyResult&>(self).get().class_map); },
          "None if the model has none.")
      .def_prop_ro(
          "depth", [](nb::handle self) { return map_of(self, nb::cast<const PyResult&>(self).get().depth); },
          "None if the model has none.")
      .def_prop_ro("embedding", embedding, "float32; None if the model has none.")
      .def_prop_ro("image", generated_image,
                   "uint8, (height, width, 3), RGB: the generated image; None if there is none.")
      .def_prop_ro("text", text, "The line of text; None if the model reads none.")
      .def_prop_ro("text_confidence", field(&Result::text_confidence))
      .def_prop_ro("width", field(&Result::width), "Of the image.")
      .def_prop_ro("height", field(&Result::height), "Of the image.")
      .def_prop_ro("task", [](const PyResult& self) { return to_string(self.get().task); })
      .def_prop_ro("model", field(&Result::model), "The model's name.")
      .def_prop_ro("stream", field(&Result::stream), "Index of the source.")
      .def_prop_ro("source", field(&Result::source), "Name of the source.")
      .def_prop_ro("name", field(&Result::name), "The image's file name; empty for a frame of a video.")
      .def_prop_ro("frame", field(&Result::frame), "The source's number of the frame, from 0.")
      .def_prop_ro("timestamp_ns", field(&Result::timestamp_ns),
                   "Presentation time in a file, the sensor's clock on a camera.")
      .def_prop_ro(
          "captured_at", [](const PyResult& self) { return self.get().captured_at; },
          "Of a network stream: when the frame was captured, else None.")
      .def_prop_ro("latency_ms", latency_ms, "By stage, in milliseconds.")
      .def_prop_ro("faults", faults, "Faults in the model's numbers; affected predictions are dropped.")
      .def_prop_ro(
          "invalid", [](const PyResult& self) { return self.get().invalid(); },
          "Whether there are faults: the predictions are unreliable.")
      .def_prop_ro("zones", zones, "Counts of the zones so far.")
      .def_prop_ro("zone_events", zone_events, "What this frame has changed in the zones.")
      .def("__len__", [](const PyResult& self) { return self.get().detections.size(); })
      .def("__bool__", [](const PyResult&) { return true; })
      .def(
          "to_json", [](const PyResult& self, bool contours) { return to_json(self.get(), contours); },
          nb::arg("contours") = false, "The JSON object that `saccade run --jsonl` writes.")
      .def(
          "to_coco", [](nb::handle self, std::int64_t image_id) { return conversion("to_coco")(self, image_id); },
          nb::arg("image_id"),
          "Dicts of COCO's results format: image_id, category_id, bbox, score, segmentation, keypoints.")
      .def(
          "to_supervision", [](nb::handle self) { return conversion("to_supervision")(self); },
          "supervision.Detections, or KeyPoints of a pose model. Needs the package supervision.")
      .def("plot", plot, nb::arg("color") = nb::none(),
           "The image with the predictions drawn: uint8, (height, width, 3), in the image's order of colours unless "
           "COLOR is \"rgb\" or \"bgr\".")
      .def("pixels", pixels, nb::arg("color") = nb::none(), "The image: uint8, (height, width, 3). A copy.")
      .def(
          "save", [](const PyResult& self, const std::string& path) { save_image(path, drawn(self)); }, nb::arg("path"),
          "Writes the image with the predictions drawn as JPEG or PNG.")
      .def("_repr_jpeg_", jpeg)
      .def("__repr__", repr);
}

}  // namespace saccade::python
