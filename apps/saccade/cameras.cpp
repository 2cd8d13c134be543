#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <saccade/cameras.hpp>

#include "command.hpp"
#include "common.hpp"
#include "flags/binder.hpp"
#include "model_size.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

using Json = nlohmann::ordered_json;

struct CamerasFlags {
  std::string model;
  CommonFlags common;
};

std::string mode_text(const CameraModeInfo& mode) {
  std::string text = fmt::format("{}x{} {}", mode.width, mode.height, mode.format);
  return mode.rate > 0 ? text + fmt::format(" at {:.4g} fps", mode.rate) : text;
}

/// The options of a URI that select MODE.
std::string mode_options(const CameraModeInfo& mode) {
  std::string text = fmt::format("size={}x{}&format={}", mode.width, mode.height, mode.format);
  return mode.rate > 0 ? text + fmt::format("&fps={:.4g}", mode.rate) : text;
}

Json mode_json(const CameraModeInfo& mode) {
  const CameraScore& score = mode.score;
  return {{"format", mode.format},
          {"width", mode.width},
          {"height", mode.height},
          {"rate", mode.rate > 0 ? Json(mode.rate) : Json()},
          {"score",
           {{"total", score.total()},
            {"rate", score.rate},
            {"size", score.size},
            {"conversion", score.conversion},
            {"bus", score.bus}}},
          {"options", mode_options(mode)}};
}

Json camera_json(const CameraInfo& camera) {
  Json json = {{"event", "camera"},
               {"path", camera.path},
               {"name", camera.name},
               {"driver", camera.driver},
               {"bus", camera.bus},
               {"modes", Json::array()},
               {"unsupported_formats", camera.unsupported_formats},
               {"controls", Json::array()}};
  for (const CameraModeInfo& mode : camera.modes) json["modes"].push_back(mode_json(mode));
  for (const CameraControlInfo& control : camera.controls)
    json["controls"].push_back({{"name", control.name},
                                {"value", control.value},
                                {"values", control.values},
                                {"read_only", control.read_only}});
  if (!camera.fault.empty()) json["fault"] = camera.fault;
  return json;
}

void print_modes(const CameraInfo& camera) {
  constexpr std::size_t kShown = 12;
  print_report("  {:<32}{:>6}{:>7}{:>7}{:>12}{:>7}\n", "mode", "score", "rate", "size", "conversion", "bus");
  for (const CameraModeInfo& mode : std::span(camera.modes).first(std::min(camera.modes.size(), kShown))) {
    const CameraScore& score = mode.score;
    print_report("  {:<32}{:>6.1f}{:>7.1f}{:>7.1f}{:>12.1f}{:>7.1f}\n", mode_text(mode), score.total(), score.rate,
                 score.size, score.conversion, score.bus);
  }
  if (camera.modes.size() > kShown)
    print_report("  and {} more modes; --json lists all\n", camera.modes.size() - kShown);
}

void print_camera(const CameraInfo& camera) {
  if (camera.name.empty())
    print_report("{}\n", camera.path);
  else
    print_report("{}: {} ({}, {})\n", camera.path, camera.name, camera.driver, camera.bus);
  if (!camera.fault.empty()) return print_report("  it can't be used: {}\n\n", camera.fault);
  if (!camera.modes.empty()) print_modes(camera);
  if (!camera.unsupported_formats.empty())
    print_report("  unsupported formats: {}\n", fmt::format("{}", fmt::join(camera.unsupported_formats, ", ")));
  for (const CameraControlInfo& control : camera.controls)
    print_report("  {}={}: {}{}\n", control.name, control.value, control.values,
                 control.read_only ? ", read only" : "");
  if (!camera.modes.empty())
    print_report("use: saccade run MODEL --source '{}?{}'\n\n", camera.path, mode_options(camera.modes.front()));
}

int list(const CamerasFlags& flags) {
  SourceOptions options;
  if (!flags.model.empty()) set_model_size(options, Model::load(flags.model));
  const std::vector<CameraInfo> cameras = list_cameras(options);
  if (flags.common.json) {
    for (const CameraInfo& camera : cameras) print_json(camera_json(camera));
    return kOk;
  }
  if (cameras.empty()) print_report("no camera is connected: there is no /dev/videoN\n");
  for (const CameraInfo& camera : cameras) print_camera(camera);
  if (std::ranges::any_of(cameras, [](const CameraInfo& camera) { return !camera.modes.empty(); }))
    print_report(
        "The score is the sum of points for a rate below 60 fps, a size below or above the model's ({}x{}), the\n"
        "conversion of pixels and the load of the bus. A URI without a mode takes the one with the lowest score.\n",
        options.model_width > 0 ? options.model_width : 640, options.model_height > 0 ? options.model_height : 640);
  return kOk;
}

}  // namespace

Action add_cameras(FlagBinder& binder) {
  const auto flags = std::make_shared<CamerasFlags>();
  binder.bind("--model", &flags->model);
  flags->common.bind_output(binder);
  return {.run = [flags] { return list(*flags); }};
}

}  // namespace saccade::app
