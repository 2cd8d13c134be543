#pragma once

#include <cerrno>
#include <memory>

#include "media/v4l2/fake_calls.hpp"

namespace saccade::test {

/// The cameras of a process that reads one of them for another process. /dev/video0: 64x48 and 32x24, YUYV and GREY, at
/// 30 and 15 frames per second. /dev/video1: in use.
inline std::shared_ptr<FakeCalls> fake_cameras() {
  FakeCamera camera;
  const std::vector<v4l2_fract> intervals = {{1, 30}, {1, 15}};
  const std::vector<FakeSize> sizes = {{64, 48, intervals, {}}, {32, 24, intervals, {}}};
  camera.formats = {{V4L2_PIX_FMT_YUYV, sizes, {}}, {V4L2_PIX_FMT_GREY, sizes, {}}};
  const auto calls = std::make_shared<FakeCalls>(std::move(camera));
  FakeCamera busy;
  busy.open_error = -EBUSY;
  calls->plug("/dev/video1", std::make_shared<FakeCamera>(std::move(busy)));
  return calls;
}

}  // namespace saccade::test
