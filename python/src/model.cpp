#include "model.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <map>
#include <system_error>
#include <variant>

#include "saccade/error.hpp"
#include "saccade/sinks.hpp"
#include "text.hpp"

namespace saccade::python {
namespace {

std::vector<TensorInfo> copy_of(std::span<const TensorInfo> tensors) { return {tensors.begin(), tensors.end()}; }

using Rectangle = std::array<int, 4>;
using ClassKey = std::variant<std::int64_t, std::string>;

std::optional<Region> region(const std::optional<Rectangle>& at) {
  if (!at) return std::nullopt;
  return Region{(*at)[0], (*at)[1], (*at)[2], (*at)[3]};
}

/// The engine would check it at the first frame, as an attribute of the model.
void check_roi(const std::optional<Region>& roi) {
  constexpr int kMost = 1'000'000;  // saccade.Preprocess accepts no more
  const auto is_in = [](int value, int least) { return value >= least && value <= kMost; };
  if (roi && !(is_in(roi->x, 0) && is_in(roi->y, 0) && is_in(roi->width, 1) && is_in(roi->height, 1)))
    throw Error(
        ErrorCode::kInvalidArgument,
        "roi is x, y, width, height in pixels, x and y from 0, width and height from 1, to " + std::to_string(kMost));
}

std::vector<std::string> class_texts(const std::vector<ClassKey>& classes) {
  std::vector<std::string> texts;
  for (const ClassKey& each : classes) {
    const auto* const name = std::get_if<std::string>(&each);
    texts.push_back(name != nullptr ? *name : std::to_string(std::get<std::int64_t>(each)));
  }
  return texts;
}

/// OPTIONS with the card at CARD, if they name one.
ModelOptions with_card(ModelOptions options, const KnownFile& card) {
  if (!options.card.empty()) options.card = card.path.string();
  return options;
}

void load(PyModel* self, const nb::object& path, const std::string& device, const std::string& precision, int threads,
          const nb::object& card, std::optional<float> confidence, std::optional<float> iou, bool agnostic,
          std::optional<bool> multi_label, int max_detections, int top_k, const std::vector<ClassKey>& classes,
          const std::string& nms, std::optional<Rectangle> roi, std::optional<Rectangle> target,
          std::optional<int> tiles, bool fallback, std::map<std::string, std::vector<std::int64_t>> shapes,
          std::map<std::string, std::int64_t> dimensions, std::size_t max_memory) {
  check_process();
  const std::string file = path_of(path, "path");
  ModelOptions options{.device = Device::parse(device), .precision = parse_precision(precision), .threads = threads};
  options.fallback = fallback;
  options.max_memory = max_memory;
  options.roi = region(roi);
  check_roi(options.roi);
  options.target = region(target);
  options.shapes = std::move(shapes);
  options.dimensions = std::move(dimensions);
  options.card = path_of(card, "card");
  options.post = {.confidence = confidence, .iou = iou, .agnostic = agnostic, .multi_label = multi_label};
  options.post.nms = parse_nms(nms);
  options.post.max_detections = max_detections;
  options.post.top_k = top_k;
  options.post.classes = class_texts(classes);
  if (tiles) options.tiles = TileOptions{.size = *tiles};
  nb::gil_scoped_release unlocked;
  new (self) PyModel(file, options);
}

}  // namespace

bool has_forked() {
  static const pid_t kProcess = getpid();
  return getpid() != kProcess;
}

void check_process() {
  if (has_forked())
    throw Error(ErrorCode::kUnsupported,
                "saccade can't be used after a fork: its threads are not in the new process; start it by "
                "multiprocessing's method \"spawn\"");
}

KnownFile::KnownFile(const std::filesystem::path& file) {
  std::error_code error;  // of a missing file, too; the engine's own reading reports it
  path = std::filesystem::absolute(file, error);
  bytes = std::filesystem::file_size(path, error);
  written = std::filesystem::last_write_time(path, error);
}

// The engine reads the card, and what it names, when it first needs them.
PyModel::PyModel(const std::string& path, const ModelOptions& options)
    : file_(path),
      card_(options.card.empty() ? std::filesystem::path(path).replace_extension(".toml")
                                 : std::filesystem::path(options.card)),
      options_(with_card(options, card_)),
      model_(Model::load(file_.path.string(), options_)) {}

Model PyModel::tracking(const TrackerOptions& tracker) const {
  for (const KnownFile* known : {&file_, &card_})
    if (*known != KnownFile(known->path))
      throw Error(ErrorCode::kInvalidArgument,
                  known->path.string() + " has changed since the model was loaded: load it again to track its objects");
  ModelOptions options = options_;
  options.post.tracker = tracker;
  return Model::load(file_.path.string(), options);
}

Categories PyModel::categories() {
  std::call_once(is_categorised_,
                 [this] { categories_ = std::make_shared<const std::vector<int>>(coco_categories(model_)); });
  return categories_;
}

Result PyModel::run_unlocked(const FrameView& frame) {
  std::unique_ptr<FrameSession> session;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      session = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (session == nullptr) session = std::make_unique<FrameSession>(model_);
  // A session whose run fails is not used again.
  Result result = session->run(frame).clone();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(session));
  return result;
}

PyResult PyModel::run(ImageArgument image) {
  check_process();
  Result result;
  Categories known;
  {
    nb::gil_scoped_release unlocked;
    result = run_unlocked(image.view);
    known = categories();
  }
  return {std::move(result), std::move(image), std::move(known)};
}

void define_model(nb::module_& module) {
  nb::class_<TensorInfo>(module, "TensorInfo", "A model's input or output.")
      .def_ro("name", &TensorInfo::name, "In the file.")
      .def_prop_ro(
          "dtype", [](const TensorInfo& self) { return to_string(self.dtype); },
          "Of the elements: \"float32\", \"int64\", ...")
      .def_prop_ro(
          "shape", [](const TensorInfo& self) { return to_tuple(self.shape); },
          "If an output's size depends on the data, its capacity.")
      .def("__repr__", [](const TensorInfo& self) {
        return "<" + self.name + ": " + std::string(to_string(self.dtype)) + " " + self.shape.to_string() + ">";
      });
  nb::class_<PyModel>(
      module, "Model",
      "A model: an ONNX file or a plan. Any thread may call it; threads that do so at the same time have "
      "memory of their own.")
      .def("__init__", load, nb::arg("path"), nb::kw_only(), nb::arg("device") = "auto", nb::arg("precision") = "auto",
           nb::arg("threads") = 0, nb::arg("card") = "", nb::arg("confidence") = nb::none(),
           nb::arg("iou") = nb::none(), nb::arg("agnostic") = false, nb::arg("multi_label") = nb::none(),
           nb::arg("max_detections") = 300, nb::arg("top_k") = 5, nb::arg("classes") = std::vector<ClassKey>{},
           nb::arg("nms") = "greedy", nb::arg("roi") = nb::none(), nb::arg("target") = nb::none(),
           nb::arg("tiles") = nb::none(), nb::arg("fallback") = false,
           nb::arg("shapes") = std::map<std::string, std::vector<std::int64_t>>{},
           nb::arg("dimensions") = std::map<std::string, std::int64_t>{}, nb::arg("max_memory") = 0,
           nb::sig("def __init__(self, path: str | os.PathLike[str], *, device: str = 'auto', precision: str = 'auto', "
                   "threads: int = 0, card: str | os.PathLike[str] = '', confidence: float | None = None, "
                   "iou: float | None = None, agnostic: bool = False, multi_label: bool | None = None, "
                   "max_detections: int = 300, top_k: int = 5, classes: collections.abc.Sequence[str | int] = (), "
                   "nms: str = 'greedy', roi: collections.abc.Sequence[int] | None = None, "
                   "target: collections.abc.Sequence[int] | None = None, tiles: int | None = None, "
                   "fallback: bool = False, shapes: collections.abc.Mapping[str, collections.abc.Sequence[int]] = {}, "
                   "dimensions: collections.abc.Mapping[str, int] = {}, max_memory: int = 0) -> None"),
           "Reads PATH. DEVICE: \"auto\", \"cpu\", \"cuda\", \"cuda:N\". PRECISION: \"auto\", \"fp32\", \"tf32\", "
           "\"fp16\", \"bf16\". THREADS: per inference; 0: one per processor. CARD: a model card; empty: MODEL.toml "
           "beside the model, else recognition. CONFIDENCE and IOU: thresholds; None: the card's. CLASSES: names or "
           "numbers to keep. NMS: \"greedy\", \"linear\", \"gaussian\", \"none\". ROI: x, y, width, height of the part "
           "of the image that counts; TARGET: of the object that a tracker of one object follows. TILES: side of the "
           "tiles that the image is cut into. FALLBACK: operators without a GPU kernel run on the host. SHAPES and "
           "DIMENSIONS: of inputs without a fixed shape. MAX_MEMORY: bytes. Raises saccade.Error.")
      .def(
          "__call__",
          [](PyModel& self, nb::handle image, std::optional<std::string> color) {
            return self.run(image_argument(image, std::move(color)));
          },
          nb::arg("image").none(), nb::arg("color") = nb::none(),
          nb::sig("def __call__(self, image: saccade._types.ImageLike, color: str | None = None) -> Result"),
          "The predictions for IMAGE: a uint8 array (height, width, 3) or (height, width), a PIL image, or the path of "
          "a file. COLOR: \"bgr\" (OpenCV) or \"rgb\", the order of an array's colours. The array must not change "
          "during the call; it is kept for plot(). It may be on the model's GPU: a tensor of PyTorch is read when its "
          "current stream is done with it, one of another library must be complete. Raises saccade.Error, or "
          "TypeError for another object.")
      .def_prop_ro(
          "name", [](const PyModel& self) { return to_str(self.get().name()); },
          "The file's name without folder and extension.")
      .def_prop_ro(
          "device", [](const PyModel& self) { return to_string(self.get().options().device); },
          "What it runs on, also where \"auto\" has chosen it: \"cpu\", \"cuda\" for the first GPU, \"cuda:N\".")
      .def_prop_ro(
          "precision", [](const PyModel& self) { return to_string(self.get().options().precision); },
          "Of the computation, as it was requested; of a plan with \"auto\", that of the file.")
      .def_prop_ro(
          "task", [](const PyModel& self) { return to_string(self.get().task()); },
          "\"detect\", \"classify\", \"segment\", \"pose\", \"obb\", \"semantic\", \"depth\", \"upscale\", "
          "\"embed\", \"text\" or \"track\".")
      .def_prop_ro(
          "labels",
          [](const PyModel& self) {
            const auto labels = self.get().labels();
            return std::vector<std::string>(labels.begin(), labels.end());
          },
          "Names by class ID; empty if the model has none.")
      .def_prop_ro(
          "inputs", [](const PyModel& self) { return copy_of(self.get().inputs()); }, "Of the file, for a Session.")
      .def_prop_ro(
          "outputs", [](const PyModel& self) { return copy_of(self.get().outputs()); }, "Of the file, for a Session.")
      .def("__repr__", [](const PyModel& self) {
        return to_str("<saccade.Model " + self.get().name() + " on " + to_string(self.get().options().device) + ">");
      });
}

}  // namespace saccade::python
