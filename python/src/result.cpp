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

#include "result_parts.hpp"
#include "saccade/draw.hpp"
#include "saccade/error.hpp"
#include "text.hpp"

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
  const FrameView& frame = self.frame();  // may copy from a GPU, by Python
  nb::gil_scoped_release unlocked;
  return draw(frame, {&self.get(), 1});
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

/// For notebooks, which show None as text.
std::optional<nb::bytes> jpeg(const PyResult& self) {
  if (!self.has_frame()) return std::nullopt;
  const Image image = drawn(self);
  std::string bytes;
  {
    const nb::gil_scoped_release unlocked;
    bytes = encode_jpeg(image);
  }
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

/// The function NAME of the package's conversions, which are written in Python.
nb::object conversion(const char* name) { return nb::module_::import_("saccade._convert").attr(name); }

/// A property of Result that is a field of its C++ type.
template <typename T>
auto field(T Result::*member) {
  return [member](const PyResult& self) { return self.get().*member; };
}

/// The same for a name that may have bytes of a file's.
auto name_field(std::string_view Result::*member) {
  return [member](const PyResult& self) { return to_str(self.get().*member); };
}

}  // namespace

const FrameView& PyResult::frame() const {
  if (!has_frame())
    throw Error(ErrorCode::kInvalidArgument, "the frame's pixels were not kept: open the Pipeline with frames=True");
  copy_to_host(image_);
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
      .def_prop_ro("text_confidence", field(&Result::text_confidence),
                   "Mean over the characters of the text, 0 to 1; 0 without text.")
      .def_prop_ro("width", field(&Result::width), "Of the image.")
      .def_prop_ro("height", field(&Result::height), "Of the image.")
      .def_prop_ro(
          "task", [](const PyResult& self) { return to_string(self.get().task); }, "Of the model, as Model.task.")
      .def_prop_ro("model", name_field(&Result::model), "The model's name.")
      .def_prop_ro("stream", field(&Result::stream), "Index of the source.")
      .def_prop_ro("source", name_field(&Result::source), "Name of the source.")
      .def_prop_ro("name", name_field(&Result::name), "The image's file name; empty for a frame of a video.")
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
          nb::arg("image_id"), nb::sig("def to_coco(self, image_id: int) -> list[dict[str, typing.Any]]"),
          "Dicts of COCO's results format: image_id, category_id, bbox, score, segmentation, keypoints.")
      .def(
          "to_supervision", [](nb::handle self) { return conversion("to_supervision")(self); },
          nb::sig("def to_supervision(self) -> typing.Any"),
          "supervision.Detections, or KeyPoints of a pose model, with the tracks' IDs in their data. An object on no "
          "confirmed track has the ID -1, as in the trackers of supervision. Needs that package.")
      .def("plot", plot, nb::arg("color") = nb::none(),
           "The image with the predictions drawn: uint8, (height, width, 3), in the image's order of colours unless "
           "COLOR is \"rgb\" or \"bgr\". Raises InvalidArgumentError if the pixels were not kept (a Pipeline without "
           "frames=True), and above 2^28 pixels; UnsupportedError for an array on a GPU that is not PyTorch's.")
      .def("pixels", pixels, nb::arg("color") = nb::none(),
           "The image: uint8, (height, width, 3). A copy. Raises what plot() does.")
      .def(
          "save",
          [](const PyResult& self, const nb::object& path) {
            const std::string file = path_of(path, "path");
            const Image image = drawn(self);
            const nb::gil_scoped_release unlocked;
            save_image(file, image);
          },
          nb::arg("path"), nb::sig("def save(self, path: str | os.PathLike[str]) -> None"),
          "Writes the image with the predictions drawn to PATH: .jpg, .jpeg or .png. Raises what plot() does, "
          "InvalidArgumentError for another ending, UnsupportedError if the image is too large for the format, IoError "
          "if it can't be written.")
      .def("_repr_jpeg_", jpeg)
      .def("__repr__", repr);
}

}  // namespace saccade::python
