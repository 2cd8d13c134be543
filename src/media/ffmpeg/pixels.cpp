#include "ffmpeg/pixels.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <cstring>

#include "media/orient.hpp"

namespace saccade {
namespace {

std::uint8_t* writable(const std::uint8_t* plane) { return const_cast<std::uint8_t*>(plane); }

bool is_rgb(PixelFormat format) { return format == PixelFormat::kRgb24 || format == PixelFormat::kBgr24; }

int sample_bytes(PixelFormat format, int plane) {
  if (is_rgb(format)) return 3;
  return format == PixelFormat::kNv12 && plane == 1 ? 2 : 1;
}

void copy_planes(const AVFrame& image, int orientation, const FrameView& to) {
  const auto stored = plane_sizes(to.format, image.width, image.height);
  for (std::size_t i = 0; i < stored.size() && stored[i].rows > 0; ++i) {
    const int bytes = sample_bytes(to.format, static_cast<int>(i));
    if (orientation != 1) {
      copy_upright(image.data[i], image.linesize[i], stored[i].row_bytes / bytes, stored[i].rows, bytes, orientation,
                   {writable(to.planes[i]), to.pitch_bytes[i]});
      continue;
    }
    for (int y = 0; y < stored[i].rows; ++y)
      std::memcpy(writable(to.planes[i]) + static_cast<std::ptrdiff_t>(y) * to.pitch_bytes[i],
                  image.data[i] + static_cast<std::ptrdiff_t>(y) * image.linesize[i],
                  static_cast<std::size_t>(stored[i].row_bytes));
  }
}

/// Unpacks one component (R, G, B or Y, U, V) of any software format into 8 bits, stored SPACING bytes apart.
void unpack_component(const AVFrame& image, const AVPixFmtDescriptor& format, int component, int width, int height,
                      std::uint8_t* to, int pitch, int spacing, std::vector<std::uint16_t>& scratch) {
  const bool palette = (format.flags & AV_PIX_FMT_FLAG_PAL) != 0;
  // A palette's entries are 32-bit words B G R A in memory.
  const int source = palette ? 2 - component : component;
  const int depth = palette ? 8 : format.comp[component].depth;
  scratch.resize(static_cast<std::size_t>(width));
  const std::uint8_t* planes[4] = {image.data[0], image.data[1], image.data[2], image.data[3]};
  for (int y = 0; y < height; ++y) {
    av_read_image_line(scratch.data(), planes, image.linesize, &format, 0, y, palette ? 0 : component, width, 0);
    std::uint8_t* row = to + static_cast<std::ptrdiff_t>(y) * pitch;
    for (int x = 0; x < width; ++x) {
      const unsigned value = scratch[static_cast<std::size_t>(x)];
      const unsigned sample = palette      ? image.data[1][4 * value + static_cast<unsigned>(source)]
                              : depth >= 8 ? value >> (depth - 8)
                                           : value * 255U / ((1U << depth) - 1U);
      row[static_cast<std::ptrdiff_t>(x) * spacing] = static_cast<std::uint8_t>(sample);
    }
  }
}

void unpack(const AVFrame& image, const FrameView& to, std::vector<std::uint16_t>& scratch) {
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(image.format));
  if (to.format == PixelFormat::kRgb24) {
    for (int c = 0; c < 3; ++c)
      unpack_component(image, format, c, to.width, to.height, writable(to.planes[0]) + c, to.pitch_bytes[0], 3,
                       scratch);
    return;
  }
  const auto sizes = plane_sizes(to.format, to.width, to.height);
  for (std::size_t c = 0; c < sizes.size() && sizes[c].rows > 0; ++c)
    unpack_component(image, format, static_cast<int>(c), sizes[c].row_bytes, sizes[c].rows, writable(to.planes[c]),
                     to.pitch_bytes[c], 1, scratch);
}

std::optional<PixelFormat> yuv_format(const AVPixFmtDescriptor& format) {
  if (format.log2_chroma_w == 1 && format.log2_chroma_h == 1) return PixelFormat::kI420;
  if (format.log2_chroma_w == 1 && format.log2_chroma_h == 0) return PixelFormat::kI422;
  if (format.log2_chroma_w == 0 && format.log2_chroma_h == 0) return PixelFormat::kI444;
  return std::nullopt;
}

/// Formats that av_read_image_line can unpack into one of ours.
std::optional<PixelPath> unpacking_path(AVPixelFormat av_format) {
  constexpr unsigned kOpaque = AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(av_format);
  if (format == nullptr || (format->flags & kOpaque) != 0) return std::nullopt;
  if (av_format == AV_PIX_FMT_XYZ12LE || av_format == AV_PIX_FMT_XYZ12BE || av_format == AV_PIX_FMT_MONOWHITE)
    return std::nullopt;
  if ((format->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0) return PixelPath{PixelFormat::kRgb24};
  if (format->nb_components <= 2) return PixelPath{PixelFormat::kGray8};
  if (const auto yuv = yuv_format(*format)) return PixelPath{*yuv};
  return std::nullopt;
}

}  // namespace

ColorMatrix matrix_of(const AVFrame& image) {
  switch (image.colorspace) {
    case AVCOL_SPC_BT709: return ColorMatrix::kBt709;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: return ColorMatrix::kBt2020;
    default: return ColorMatrix::kBt601;
  }
}

ColorRange range_of(const AVFrame& image, PixelFormat format) {
  switch (image.format) {
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ444P: return ColorRange::kFull;
    default: break;
  }
  if (is_rgb(format) || image.color_range == AVCOL_RANGE_JPEG) return ColorRange::kFull;
  // Grey comes from still images, which are full range unless they say otherwise.
  const bool unsaid = image.color_range == AVCOL_RANGE_UNSPECIFIED;
  return unsaid && format == PixelFormat::kGray8 ? ColorRange::kFull : ColorRange::kLimited;
}

std::optional<PixelPath> pixel_path(int av_format) {
  switch (av_format) {
    case AV_PIX_FMT_YUV420P:
    case AV_PIX_FMT_YUVJ420P: return PixelPath{PixelFormat::kI420, true};
    case AV_PIX_FMT_YUV422P:
    case AV_PIX_FMT_YUVJ422P: return PixelPath{PixelFormat::kI422, true};
    case AV_PIX_FMT_YUV444P:
    case AV_PIX_FMT_YUVJ444P: return PixelPath{PixelFormat::kI444, true};
    case AV_PIX_FMT_NV12: return PixelPath{PixelFormat::kNv12, true};
    case AV_PIX_FMT_GRAY8: return PixelPath{PixelFormat::kGray8, true};
    case AV_PIX_FMT_RGB24: return PixelPath{PixelFormat::kRgb24, true};
    case AV_PIX_FMT_BGR24: return PixelPath{PixelFormat::kBgr24, true};
    default: return unpacking_path(static_cast<AVPixelFormat>(av_format));
  }
}

FrameView copy_image(const AVFrame& image, const PixelPath& path, int orientation, const FrameBuffer& storage,
                     std::vector<std::uint16_t>& scratch) {
  const bool turned = swaps_sides(orientation);
  FrameView view =
      lay_out(storage, path.format, turned ? image.height : image.width, turned ? image.width : image.height);
  view.matrix = matrix_of(image);
  view.range = range_of(image, path.format);
  if (path.direct) {
    copy_planes(image, orientation, view);
  } else {
    unpack(image, view, scratch);
  }
  return view;
}

}  // namespace saccade
