#include "nvdec/capabilities.hpp"

#include "base/error.hpp"
#include "media/file_kind.hpp"
#include "nvdec/nvcuvid.hpp"

namespace saccade::nvdec {
namespace {

/// A macroblock has 16 x 16 pixels.
unsigned blocks_of(unsigned width, unsigned height) { return (width + 15) / 16 * ((height + 15) / 16); }

std::string refusal_of_size(const DeviceVideo& video, const cuda::CUVIDDECODECAPS& caps) {
  if (video.width <= 0 || video.height <= 0) return {};
  const auto width = static_cast<unsigned>(video.width);
  const auto height = static_cast<unsigned>(video.height);
  if (std::int64_t{video.width} * video.height > kMaxPixels || width > caps.nMaxWidth || height > caps.nMaxHeight ||
      blocks_of(width, height) > caps.nMaxMBCount)
    return fmt::format("its decoder takes {} of up to {}x{} pixels, and this has {}x{}", name_of(video.codec),
                       caps.nMaxWidth, caps.nMaxHeight, width, height);
  // Sizes of caps are those of coded images, which are multiples of 16.
  if ((width + 15) / 16 * 16 < caps.nMinWidth || (height + 15) / 16 * 16 < caps.nMinHeight)
    return fmt::format("its decoder takes {} of at least {}x{} pixels, and this has {}x{}", name_of(video.codec),
                       caps.nMinWidth, caps.nMinHeight, width, height);
  return {};
}

}  // namespace

cuda::cudaVideoCodec codec_of(ExactCodec codec) {
  switch (codec) {
    case ExactCodec::kH264: return cuda::cudaVideoCodec_H264;
    case ExactCodec::kHevc: return cuda::cudaVideoCodec_HEVC;
    case ExactCodec::kVp8: return cuda::cudaVideoCodec_VP8;
    case ExactCodec::kVp9: break;
  }
  return cuda::cudaVideoCodec_VP9;
}

const char* name_of(ExactCodec codec) {
  switch (codec) {
    case ExactCodec::kH264: return "H.264";
    case ExactCodec::kHevc: return "HEVC";
    case ExactCodec::kVp8: return "VP8";
    case ExactCodec::kVp9: break;
  }
  return "VP9";
}

std::string refusal(const DeviceVideo& video, int device) {
  if (!video.is_420) return fmt::format("{} that is not 4:2:0 is decoded by the CPU", name_of(video.codec));
  if (video.bits != 8) return fmt::format("{} of {} bits is decoded by the CPU", name_of(video.codec), video.bits);
  try {
    make_current(device);
    cuda::CUVIDDECODECAPS caps{};
    caps.eCodecType = codec_of(video.codec);
    caps.eChromaFormat = cuda::cudaVideoChromaFormat_420;
    SACCADE_NVDEC(cuvidGetDecoderCaps(&caps));
    if (caps.bIsSupported == 0) return fmt::format("its decoder does not support {}", name_of(video.codec));
    return refusal_of_size(video, caps);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace saccade::nvdec
