#include "pipeline.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model.hpp"
#include "saccade/error.hpp"
#include "saccade/pipeline.hpp"
#include "text.hpp"

namespace saccade::python {
namespace {

/// SOURCE is one, or what gives some.
std::vector<std::string> uris_of(const nb::object& source) {
  if (nb::isinstance<nb::str>(source) || nb::isinstance<nb::bytes>(source) || nb::hasattr(source, "__fspath__") ||
      !nb::hasattr(source, "__iter__"))
    return {path_of(source, "source")};
  std::vector<std::string> uris;
  for (const nb::handle each : source) uris.push_back(path_of(each, "source"));
  return uris;
}

/// MODELS is a Model, or what gives some.
std::vector<nb::object> models_of(const nb::object& models) {
  if (nb::isinstance<PyModel>(models)) return {models};
  const auto refuse = [](nb::handle object) {
    throw nb::type_error(("model is a saccade.Model or several, not " + class_of(object)).c_str());
  };
  if (!nb::hasattr(models, "__iter__")) refuse(models);
  std::vector<nb::object> list;
  for (const nb::handle model : models) {
    if (!nb::isinstance<PyModel>(model)) refuse(model);
    list.push_back(nb::borrow(model));
  }
  return list;
}

template <typename Option>
Option option_of(std::string_view keyword, std::string_view name, std::initializer_list<Option> options) {
  std::string known;
  for (const Option option : options) {
    if (to_string(option) == name) return option;
    known += (known.empty() ? "\"" : "\", \"") + std::string(to_string(option));
  }
  throw Error(ErrorCode::kInvalidArgument,
              std::string(keyword) + " is \"" + std::string(name) + "\", but there is " + known + "\"");
}

/// COUNT seconds, the value of KEYWORD.
std::chrono::nanoseconds seconds(const std::string& keyword, double count) {
  constexpr double kMost = 9.2e9;       // 292 years, all that nanoseconds can hold
  if (!(count >= 0 && count <= kMost))  // true for a NaN
    throw Error(ErrorCode::kInvalidArgument,
                keyword + " is seconds, from 0 to 9.2e9, not " + text_of(nb::float_(count)));
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(count));
}

Dictionary parse_json(const std::string& text) {
  return nb::cast<Dictionary>(nb::module_::import_("json").attr("loads")(text));
}

class PyPipeline {
 public:
  PyPipeline(std::vector<Source> sources, const std::vector<PyModel*>& models, const std::optional<std::string>& track,
             const PipelineOptions& options, std::optional<PixelFormat> frames)
      : frames_(frames) {
    std::vector<Model> loaded;
    for (PyModel* model : models) {
      loaded.push_back(track ? model->tracking(tracker_options(*track)) : model->get());
      categories_.push_back(model->categories());
    }
    pipeline_ = std::make_unique<Pipeline>(std::move(sources), loaded, options);
  }
  ~PyPipeline() {
    if (has_forked()) {
      (void)pipeline_.release();  // NOLINT(bugprone-unused-return-value): it would wait for threads that are not here
      return;
    }
    const nb::gil_scoped_release unlocked;
    pipeline_.reset();
  }
  PyPipeline(const PyPipeline&) = delete;
  PyPipeline& operator=(const PyPipeline&) = delete;

  /// The next result. Called with the GIL, which it releases while it waits.
  PyResult next() {
    check_process();
    constexpr auto kSignals = std::chrono::milliseconds(100);  // how long Ctrl-C may wait
    for (;;) {
      Result result;
      Image image;
      std::optional<Failure> failure;
      {
        nb::gil_scoped_release unlocked;
        const Outcome<Result&> outcome = pipeline_->next(kSignals);
        if (outcome) {
          result = outcome->clone();
          if (frames_) image = convert(pipeline_->frame(), *frames_);
        } else {
          failure = outcome.failure();
        }
      }
      if (!failure) {
        const auto model = static_cast<std::size_t>(result.model_index);
        return {std::move(result), kept(std::move(image)), categories_[model]};
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (failure->status == Status::kTimeout) continue;
      if (failure->status == Status::kLost) throw Error(ErrorCode::kDevice, failure->message);
      if (failure->status == Status::kFailed) throw Error(ErrorCode::kInvalidArgument, failure->message);
      throw nb::stop_iteration();
    }
  }

  void stop() noexcept {
    if (has_forked()) return;
    nb::gil_scoped_release unlocked;
    pipeline_->stop();
  }

  Dictionary finish() {
    check_process();
    std::string text;
    {
      nb::gil_scoped_release unlocked;
      text = to_json(pipeline_->finish());
    }
    return parse_json(text);
  }

  Dictionary summary() const { return parse_json(to_json(pipeline_->summary())); }
  Dictionary telemetry() { return parse_json(to_json(pipeline_->telemetry())); }

 private:
  ImageArgument kept(Image image) const {
    if (!frames_) return {};
    ImageArgument argument{.view = {}, .color = *frames_, .owner = {}};
    const int width = image.width();
    const int height = image.height();
    argument.owner = nb::cast(image_array(std::move(image)));
    argument.view = {.format = *frames_, .range = ColorRange::kFull, .width = width, .height = height};
    argument.view.planes[0] = nb::cast<nb::ndarray<std::uint8_t>>(argument.owner).data();
    argument.view.pitch_bytes[0] = 3 * width;
    return argument;
  }

  std::vector<Categories> categories_;  ///< by model
  std::optional<PixelFormat> frames_;   ///< of the pixels that results keep; nullopt: none
  std::unique_ptr<Pipeline> pipeline_;
};

void open(PyPipeline* self, const nb::object& source, const nb::object& model, const std::optional<std::string>& track,
          bool frames, const std::string& color, const std::vector<std::string>& devices, const std::string& drop,
          std::size_t queue, std::int64_t every, double max_rate, std::size_t batch, double batch_wait,
          std::int64_t max_frames, double duration, const std::optional<nb::object>& zones, bool realtime, bool loop,
          bool wait_for_source, bool isolate, const std::string& decode, std::size_t max_memory) {
  check_process();
  PipelineOptions options;
  for (const std::string& device : devices) options.devices.push_back(Device::parse(device));
  options.drop =
      option_of("drop", drop, {DropPolicy::kAuto, DropPolicy::kWait, DropPolicy::kOldest, DropPolicy::kNewest});
  options.queue = queue;
  options.every = every;
  options.max_rate = max_rate;
  options.batch = batch;
  options.batch_wait = seconds("batch_wait", batch_wait);
  options.max_frames = max_frames;
  options.duration = seconds("duration", duration);
  options.max_memory = max_memory;
  if (zones) options.zones = read_zones(path_of(*zones, "zones"));
  SourceOptions source_options{
      .realtime = realtime, .loop = loop, .wait_for_source = wait_for_source, .isolate = isolate};
  source_options.decode = option_of("decode", decode, {Decoding::kAuto, Decoding::kCpu, Decoding::kCuda});
  const std::vector<std::string> uris = uris_of(source);
  const std::vector<nb::object> kept_models = models_of(model);
  std::vector<PyModel*> models;
  models.reserve(kept_models.size());
  for (const nb::object& each : kept_models) models.push_back(&nb::cast<PyModel&>(each));
  const std::optional<PixelFormat> kept = frames ? std::optional(color_format(color)) : std::nullopt;
  nb::gil_scoped_release unlocked;
  new (self) PyPipeline(Source::open_all(uris, source_options), models, track, options, kept);
}

}  // namespace

void define_pipeline(nb::module_& module) {
  nb::class_<PyPipeline>(
      module, "Pipeline",
      "Runs models on the frames of sources. Iterating gives a Result per frame and model. One thread "
      "at a time, except stop(), summary() and telemetry().")
      .def("__init__", open, nb::arg("source"), nb::arg("model"), nb::kw_only(), nb::arg("track") = nb::none(),
           nb::arg("frames") = false, nb::arg("color") = "bgr", nb::arg("devices") = std::vector<std::string>{},
           nb::arg("drop") = "auto", nb::arg("queue") = 0, nb::arg("every") = 1, nb::arg("max_rate") = 0.0,
           nb::arg("batch") = 1, nb::arg("batch_wait") = 0.002, nb::arg("max_frames") = 0, nb::arg("duration") = 0.0,
           nb::arg("zones") = nb::none(), nb::arg("realtime") = false, nb::arg("loop") = false,
           nb::arg("wait_for_source") = false, nb::arg("isolate") = false, nb::arg("decode") = "auto",
           nb::arg("max_memory") = 0,
           nb::sig(
               "def __init__(self, source: str | os.PathLike[str] | collections.abc.Iterable[str | os.PathLike[str]], "
               "model: Model | collections.abc.Iterable[Model], *, track: str | None = None, frames: bool = False, "
               "color: str = 'bgr', devices: collections.abc.Sequence[str] = (), drop: str = 'auto', queue: int = 0, "
               "every: int = 1, max_rate: float = 0.0, batch: int = 1, batch_wait: float = 0.002, "
               "max_frames: int = 0, duration: float = 0.0, zones: str | os.PathLike[str] | None = None, "
               "realtime: bool = False, loop: bool = False, wait_for_source: bool = False, isolate: bool = False, "
               "decode: str = 'auto', max_memory: int = 0) -> None"),
           "SOURCE: an image, folder, video, camera, network stream or scene, or several of them, as `saccade run "
           "--source`. MODEL: a Model or several. TRACK: \"bytetrack\", \"ocsort\" or \"sort\", with settings as "
           "\"ocsort:match=0.2\"; it reads the models' files again, which must not have changed. FRAMES: results keep "
           "the pixels of their frames, in COLOR (\"bgr\", \"rgb\"): a copy per result. DEVICES: each runs all models "
           "on a share of the sources. DROP: \"auto\", \"wait\", \"oldest\", \"newest\". QUEUE: frames per source; "
           "0: 1 of a live one, else 4. EVERY: one of this many frames. MAX_RATE: frames per second; 0: all. BATCH: "
           "most frames at once; 0: chosen. BATCH_WAIT and DURATION: seconds; a DURATION of 0: without end. ZONES: a "
           "TOML file. REALTIME: a file at its own rate, live. LOOP: a file begins again. WAIT_FOR_SOURCE: a missing "
           "camera or stream is no error. ISOLATE: read sources in child processes. DECODE: \"auto\", \"cpu\", "
           "\"cuda\". MAX_MEMORY: bytes. Waits until the sources are open; Ctrl-C has to wait as long. Raises "
           "saccade.Error, or TypeError for another object.")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __iter__(self) -> Pipeline"))
      .def("__next__", &PyPipeline::next,
           "The next result. Raises StopIteration at the end, DeviceError for a source that fails or a file that is "
           "damaged, InvalidArgumentError for a frame on which a model can't run; the next call continues with the "
           "other sources and frames.")
      .def("stop", &PyPipeline::stop, "Ends the iteration. Any thread.")
      .def("finish", &PyPipeline::finish, "Stops; returns the summary.")
      .def("summary", &PyPipeline::summary, "What `saccade run --json` prints, so far. Any thread.")
      .def("telemetry", &PyPipeline::telemetry,
           "The state of the sources, and what happened since the last call. Any thread.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Pipeline"))
      .def(
          "__exit__",
          [](PyPipeline& self, const nb::args&) {
            if (!has_forked()) self.finish();
          },
          nb::sig("def __exit__(self, *exception: object) -> None"));
}

}  // namespace saccade::python
