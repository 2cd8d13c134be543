#include "media/v4l2/stream_format.hpp"

#include <linux/videodev2.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace saccade::v4l2 {
namespace {

/// "640x480 YUYV (10, 30 fps), ...", at most a few lines of it.
std::string list_of(std::span<const Mode> modes) {
  constexpr std::size_t kMost = 24;
  std::string text;
  std::size_t entries = 0;
  for (std::size_t i = 0; i < modes.size();) {
    const Mode& first = modes[i];
    std::string rates;
    for (; i < modes.size() && modes[i].format == first.format && modes[i].width == first.width &&
           modes[i].height == first.height;
         ++i)
      if (modes[i].interval.rate() > 0)
        rates += fmt::format("{}{:.4g}", rates.empty() ? "" : ", ", modes[i].interval.rate());
    if (++entries > kMost) return text + ", ...";
    text += fmt::format("{}{}x{} {}", text.empty() ? "" : "; ", first.width, first.height, first.format->name);
    if (!rates.empty()) text += fmt::format(" at {} fps", rates);
  }
  return text;
}

std::string wish_of(const CameraOptions& options) {
  std::string text;
  if (options.width > 0) text += fmt::format("&size={}x{}", options.width, options.height);
  if (options.rate > 0) text += fmt::format("&fps={:g}", options.rate);
  if (options.format != nullptr) text += fmt::format("&format={}", options.format->name);
  return text.substr(std::min<std::size_t>(text.size(), 1));
}

Mode choose_mode(const Device& device, const CameraOptions& options, const ModelSize& model) {
  const std::vector<Mode> modes = modes_of(device.calls(), device.descriptor(), options);
  if (modes.empty()) {
    std::string names;
    for (const CameraFormat& format : camera_formats())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
    const std::vector<std::string> own = unsupported_formats_of(device.calls(), device.descriptor());
    fail(ErrorCode::kUnsupported, "{} has none of the formats that can be read: {}; it has {}", device.name(), names,
         own.empty() ? "none with a size" : fmt::format("{}", fmt::join(own, ", ")));
  }
  std::vector<Mode> wanted;
  std::ranges::copy_if(modes, std::back_inserter(wanted), [&](const Mode& mode) { return is_wanted(mode, options); });
  if (wanted.empty())
    fail(ErrorCode::kInvalidArgument, "{} has no mode {}; it has {}", device.name(), wish_of(options), list_of(modes));
  return best_mode(wanted, model);
}

/// An input of digital video, as HDMI, has the timings of its signal.
void follow_signal(const Device& device) {
  v4l2_dv_timings timings{};
  if (device.control(VIDIOC_QUERY_DV_TIMINGS, &timings) == 0) device.control(VIDIOC_S_DV_TIMINGS, &timings);
}

v4l2_pix_format set_pixels(const Device& device, const Mode& mode) {
  v4l2_format format{};
  format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  format.fmt.pix.width = static_cast<std::uint32_t>(mode.width);
  format.fmt.pix.height = static_cast<std::uint32_t>(mode.height);
  format.fmt.pix.pixelformat = mode.format->code;
  format.fmt.pix.field = V4L2_FIELD_NONE;
  if (const int error = device.control(VIDIOC_S_FMT, &format); error != 0)
    device.refused("its format can't be set", error);
  const v4l2_pix_format& pixels = format.fmt.pix;
  if (pixels.pixelformat != mode.format->code || static_cast<int>(pixels.width) != mode.width ||
      static_cast<int>(pixels.height) != mode.height)
    fail(ErrorCode::kDevice, "{} offers {}, but delivers {}x{} {} then: choose another size or format", device.name(),
         to_string(mode), pixels.width, pixels.height, four_characters(pixels.pixelformat));
  if (pixels.field == V4L2_FIELD_ALTERNATE || pixels.field == V4L2_FIELD_SEQ_TB || pixels.field == V4L2_FIELD_SEQ_BT)
    fail(ErrorCode::kUnsupported, "{} delivers the fields of interlaced video apart, which is not supported",
         device.name());
  return pixels;
}

/// Sets the interval of MODE; what the driver made of it.
FrameInterval set_interval(const Device& device, const Mode& mode, const CameraOptions& options) {
  v4l2_streamparm parameters{};
  parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  v4l2_fract& interval = parameters.parm.capture.timeperframe;
  FrameInterval wanted = mode.interval;
  if (wanted.rate() == 0 && options.rate > 0)
    wanted = {1000, static_cast<std::uint32_t>(std::lround(1000 * options.rate))};
  if (wanted.rate() > 0) {
    interval = {wanted.numerator, wanted.denominator};
    const int error = device.control(VIDIOC_S_PARM, &parameters);
    if (error == -EBUSY || error == -ENODEV) device.refused("its frame rate can't be set", error);
    if (error != 0) interval = {};  // it has one rate per mode
  } else {
    device.control(VIDIOC_G_PARM, &parameters);
  }
  FrameInterval actual = {interval.numerator, interval.denominator};
  if (actual.rate() == 0) actual = mode.interval;
  Mode agreed = mode;
  agreed.interval = actual;
  if (options.rate > 0 && actual.rate() == 0)
    fail(ErrorCode::kInvalidArgument, "{}: fps={:g} can't be set: its driver has no frame rates", device.name(),
         options.rate);
  if (!is_wanted(agreed, options))
    fail(ErrorCode::kInvalidArgument, "{} does not run at fps={:g}, but at {:.4g} in this mode", device.name(),
         options.rate, actual.rate());
  return actual;
}

ColorMatrix matrix_of(const v4l2_pix_format& pixels) {
  std::uint32_t known = pixels.priv == V4L2_PIX_FMT_PRIV_MAGIC ? pixels.ycbcr_enc : 0;
  if (known == V4L2_YCBCR_ENC_DEFAULT) known = V4L2_MAP_YCBCR_ENC_DEFAULT(pixels.colorspace);
  if (known == V4L2_YCBCR_ENC_709 || known == V4L2_YCBCR_ENC_XV709) return ColorMatrix::kBt709;
  return known == V4L2_YCBCR_ENC_BT2020 ? ColorMatrix::kBt2020 : ColorMatrix::kBt601;
}

ColorRange range_of(const v4l2_pix_format& pixels, const CameraFormat& format) {
  // V4L2's defaults are for Y'CbCr. A sensor's own samples use all 256 levels.
  const bool is_full = format.pixels == PixelFormat::kRgb24 || format.pixels == PixelFormat::kBgr24 ||
                       format.pixels == PixelFormat::kGray8 || (format.pixels && is_mosaic(*format.pixels));
  std::uint32_t range = pixels.priv == V4L2_PIX_FMT_PRIV_MAGIC ? pixels.quantization : 0;
  if (range == V4L2_QUANTIZATION_DEFAULT)
    range = is_full || pixels.colorspace == V4L2_COLORSPACE_JPEG ? V4L2_QUANTIZATION_FULL_RANGE
                                                                 : V4L2_QUANTIZATION_LIM_RANGE;
  return range == V4L2_QUANTIZATION_FULL_RANGE ? ColorRange::kFull : ColorRange::kLimited;
}

struct PlaneLayout {
  std::array<std::size_t, 3> offset{};
  std::array<int, 3> pitch{};
};

PlaneLayout lay_out_planes(const StreamFormat& format) {
  const PixelFormat pixels = *format.mode.format->pixels;
  const auto planes = plane_sizes(pixels, format.mode.width, format.mode.height);
  PlaneLayout places;
  std::size_t next = 0;
  for (std::size_t i = 0; i < planes.size() && planes[i].rows > 0; ++i) {
    // The padding of a row of chroma is that of luma, divided as the samples are. A row of odd width has half a sample
    // more than luma's.
    const bool is_half = (pixels == PixelFormat::kI420 || pixels == PixelFormat::kI422) && i > 0;
    places.pitch[i] = std::max(is_half ? format.pitch_bytes / 2 : format.pitch_bytes, planes[i].row_bytes);
    places.offset[i] = next;
    next += static_cast<std::size_t>(places.pitch[i]) * static_cast<std::size_t>(planes[i].rows);
  }
  return places;
}

}  // namespace

StreamFormat set_format(const Device& device, const CameraOptions& options, const ModelSize& model) {
  follow_signal(device);
  StreamFormat format;
  format.mode = choose_mode(device, options, model);
  const v4l2_pix_format pixels = set_pixels(device, format.mode);
  format.mode.interval = set_interval(device, format.mode, options);
  format.image_bytes = pixels.sizeimage;
  format.frame_bytes = 1;
  format.matrix = matrix_of(pixels);
  format.range = range_of(pixels, *format.mode.format);
  if (format.mode.format->is_compressed()) return format;
  const PixelFormat layout = *format.mode.format->pixels;
  const auto planes = plane_sizes(layout, format.mode.width, format.mode.height);
  format.pitch_bytes = std::max(static_cast<int>(pixels.bytesperline), planes[0].row_bytes);
  const PlaneLayout places = lay_out_planes(format);
  for (std::size_t i = 0; i < planes.size() && planes[i].rows > 0; ++i)
    // The last row need not have its padding.
    format.frame_bytes = places.offset[i] +
                         static_cast<std::size_t>(planes[i].rows - 1) * static_cast<std::size_t>(places.pitch[i]) +
                         static_cast<std::size_t>(planes[i].row_bytes);
  if (format.image_bytes < format.frame_bytes)
    fail(ErrorCode::kDevice, "{}: its driver announces buffers of {} bytes for frames of {}", device.name(),
         format.image_bytes, format.frame_bytes);
  return format;
}

FrameView view_of(const StreamFormat& format, const std::byte* data, MemoryKind memory) {
  const PlaneLayout places = lay_out_planes(format);
  FrameView view{.format = *format.mode.format->pixels,
                 .matrix = format.matrix,
                 .range = format.range,
                 .memory = memory,
                 .width = format.mode.width,
                 .height = format.mode.height,
                 .pitch_bytes = places.pitch};
  const auto planes = plane_sizes(view.format, view.width, view.height);
  for (std::size_t i = 0; i < planes.size() && planes[i].rows > 0; ++i)
    view.planes[i] = reinterpret_cast<const std::uint8_t*>(data) + places.offset[i];
  return view;
}

}  // namespace saccade::v4l2
