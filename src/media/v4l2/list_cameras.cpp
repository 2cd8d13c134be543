#include <algorithm>

#include "base/error.hpp"
#include "media/v4l2/controls.hpp"
#include "media/v4l2/device.hpp"
#include "media/v4l2/list_cameras.hpp"
#include "media/v4l2/modes.hpp"
#include "saccade/cameras.hpp"

namespace saccade {
namespace v4l2 {
namespace {

void add_modes(const Device& device, const ModelSize& model, CameraInfo& info) {
  for (const Mode& mode : modes_of(device.calls(), device.descriptor(), {}))
    info.modes.push_back({.format = std::string(mode.format->name),
                          .width = mode.width,
                          .height = mode.height,
                          .rate = mode.interval.rate(),
                          .score = score_of(mode, model)});
  std::ranges::stable_sort(info.modes, {}, [](const CameraModeInfo& mode) { return mode.score.total(); });
}

void add_controls(const Device& device, CameraInfo& info) {
  for (const Control& control : controls_of(device))
    info.controls.push_back({.name = control.name,
                             .value = value_now(device, control),
                             .values = valid_values(control),
                             .read_only = control.is_read_only});
}

void describe(const Device& device, const ModelSize& model, CameraInfo& info) {
  info.name = device.identity().card;
  info.driver = device.identity().driver;
  info.bus = device.identity().bus;
  device.check_capture();
  add_modes(device, model, info);
  info.unsupported_formats = unsupported_formats_of(device.calls(), device.descriptor());
  add_controls(device, info);
}

}  // namespace

std::vector<CameraInfo> list_cameras(const std::shared_ptr<SystemCalls>& calls, const ModelSize& model) {
  std::vector<CameraInfo> cameras;
  for (const std::string& path : calls->devices()) {
    CameraInfo info{.path = path};
    try {
      const Device device(calls, path);
      if (device.kind() == NodeKind::kOther) continue;  // the metadata node of a camera, an encoder
      describe(device, model, info);
    } catch (const Error& error) {
      info.fault = error.what();
    }
    cameras.push_back(std::move(info));
  }
  return cameras;
}

}  // namespace v4l2

std::vector<CameraInfo> list_cameras(const SourceOptions& options) {
  v4l2::ModelSize model;
  if (options.model_width > 0) model.width = options.model_width;
  if (options.model_height > 0) model.height = options.model_height;
  return v4l2::list_cameras(v4l2::linux_calls(), model);
}

}  // namespace saccade
