#include "media/v4l2/fake_camera.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "media/v4l2/fake_calls.hpp"

namespace saccade::test {
namespace {

const FakeFormat* format_of(const FakeCamera& camera, std::uint32_t code) {
  const auto found = std::ranges::find(camera.formats, code, &FakeFormat::code);
  return found == camera.formats.end() ? nullptr : &*found;
}

const FakeControl* control_of(const FakeCamera& camera, std::uint32_t id) {
  for (const FakeControl& control : camera.controls)
    if (control.query.id == id) return &control;
  return nullptr;
}

}  // namespace

FakeControl fake_control(std::uint32_t id, std::uint32_t type, const std::string& name, std::int64_t low,
                         std::int64_t high, std::uint32_t flags) {
  FakeControl control;
  control.query.id = id;
  control.query.type = type;
  name.copy(control.query.name, sizeof(control.query.name));
  control.query.minimum = low;
  control.query.maximum = high;
  control.query.step = 1;
  control.query.flags = flags;
  return control;
}

int enumerate(const FakeCamera& camera, v4l2_fmtdesc& description) {
  if (description.index >= camera.formats.size()) return -EINVAL;
  description.pixelformat = camera.formats[description.index].code;
  return 0;
}

int enumerate(const FakeCamera& camera, v4l2_frmsizeenum& size) {
  const FakeFormat* format = format_of(camera, size.pixel_format);
  if (format == nullptr) return -EINVAL;
  if (format->range) {
    if (size.index > 0) return -EINVAL;
    const bool is_continuous = format->range->step_width == 1 && format->range->step_height == 1;
    size.type = is_continuous ? V4L2_FRMSIZE_TYPE_CONTINUOUS : V4L2_FRMSIZE_TYPE_STEPWISE;
    size.stepwise = *format->range;
    return 0;
  }
  if (size.index >= format->sizes.size()) return -EINVAL;
  size.type = V4L2_FRMSIZE_TYPE_DISCRETE;
  size.discrete = {format->sizes[size.index].width, format->sizes[size.index].height};
  return 0;
}

int enumerate(const FakeCamera& camera, v4l2_frmivalenum& interval) {
  const FakeFormat* format = format_of(camera, interval.pixel_format);
  if (format == nullptr || format->sizes.empty()) return -EINVAL;
  const auto has_size = [&](const FakeSize& size) {
    return size.width == interval.width && size.height == interval.height;
  };
  const auto found = format->range ? format->sizes.begin() : std::ranges::find_if(format->sizes, has_size);
  if (found == format->sizes.end()) return -EINVAL;
  if (found->range) {
    if (interval.index > 0) return -EINVAL;
    interval.type = found->range->step.numerator == 0 ? V4L2_FRMIVAL_TYPE_CONTINUOUS : V4L2_FRMIVAL_TYPE_STEPWISE;
    interval.stepwise = *found->range;
    return 0;
  }
  if (interval.index >= found->intervals.size()) return -EINVAL;
  interval.type = V4L2_FRMIVAL_TYPE_DISCRETE;
  interval.discrete = found->intervals[interval.index];
  return 0;
}

int query(const FakeCamera& camera, v4l2_query_ext_ctrl& control) {
  const bool is_next = (control.id & V4L2_CTRL_FLAG_NEXT_CTRL) != 0;
  const std::uint32_t id = control.id & ~V4L2_CTRL_FLAG_NEXT_CTRL;
  for (const FakeControl& each : camera.controls)
    if (is_next ? each.query.id > id : each.query.id == id) {
      control = each.query;
      return 0;
    }
  return -EINVAL;
}

int query(const FakeCamera& camera, v4l2_querymenu& item) {
  const FakeControl* control = control_of(camera, item.id);
  if (control == nullptr) return -EINVAL;
  if (const auto name = control->names.find(item.index); name != control->names.end()) {
    std::memset(item.name, 0, sizeof(item.name));
    name->second.copy(reinterpret_cast<char*>(item.name), sizeof(item.name));
    return 0;
  }
  const auto number = control->numbers.find(item.index);
  if (number == control->numbers.end()) return -EINVAL;
  item.value = number->second;
  return 0;
}

int set_controls(FakeCamera& camera, const v4l2_ext_controls& settings) {
  const v4l2_ext_control& setting = settings.controls[0];
  const FakeControl* control = control_of(camera, setting.id);
  if (settings.count != 1 || control == nullptr) return -EINVAL;
  if (control->refusal != 0) return control->refusal;
  const bool is_long = control->query.type == V4L2_CTRL_TYPE_INTEGER64;
  camera.control_values[setting.id] = is_long ? setting.value64 : setting.value;
  return 0;
}

void complete(const FakeCamera& camera, v4l2_pix_format& pixels) {
  const std::uint32_t w = pixels.width;
  const std::uint32_t h = pixels.height;
  std::uint32_t bytes = 0;
  switch (pixels.pixelformat) {
    case V4L2_PIX_FMT_NV12:
    case V4L2_PIX_FMT_YUV420: {
      pixels.bytesperline = w + camera.padding;
      const std::uint32_t half = (pixels.bytesperline + 1) / 2;
      bytes = pixels.bytesperline * h + 2 * half * ((h + 1) / 2);
      break;
    }
    case V4L2_PIX_FMT_YUYV:
    case V4L2_PIX_FMT_UYVY: pixels.bytesperline = (w + 1) / 2 * 4 + camera.padding; break;
    case V4L2_PIX_FMT_RGB24:
    case V4L2_PIX_FMT_BGR24: pixels.bytesperline = 3 * w + camera.padding; break;
    case V4L2_PIX_FMT_GREY: pixels.bytesperline = w + camera.padding; break;
    default: pixels.bytesperline = 0; bytes = 2 * w * h + 4096;
  }
  if (bytes == 0) bytes = pixels.bytesperline * h;
  pixels.sizeimage = camera.image_bytes != 0 ? camera.image_bytes : bytes;
  pixels.colorspace = camera.colorspace;
  pixels.priv = V4L2_PIX_FMT_PRIV_MAGIC;
  pixels.ycbcr_enc = camera.matrix;
  pixels.quantization = camera.range;
  pixels.field = V4L2_FIELD_NONE;
}

}  // namespace saccade::test
