#include "nvdec/probe.hpp"

#include <algorithm>
#include <memory>

#include "nvdec/capabilities.hpp"
#include "nvdec/nvcuvid.hpp"

namespace saccade::nvdec {
namespace {

/// Frames before which a sequence begins: a stream that was cut begins in the middle of one.
constexpr int kMostFrames = 600;

struct EndParsing {
  void operator()(void* parser) const noexcept { static_cast<void>(nvcuvid().cuvidDestroyVideoParser(parser)); }
};

int keep_format(void* to, cuda::CUVIDEOFORMAT* format) {
  *static_cast<std::optional<cuda::CUVIDEOFORMAT>*>(to) = *format;
  return 0;  // nothing is decoded
}

Probe described(const cuda::CUVIDEOFORMAT& format, ExactCodec codec) {
  Probe probe;
  probe.video = {.codec = codec,
                 .bits = 8 + std::max(format.bit_depth_luma_minus8, format.bit_depth_chroma_minus8),
                 .is_420 = format.chroma_format == cuda::cudaVideoChromaFormat_420,
                 .width = static_cast<int>(format.coded_width),
                 .height = static_cast<int>(format.coded_height)};
  probe.width = format.display_area.right - format.display_area.left;
  probe.height = format.display_area.bottom - format.display_area.top;
  const auto& rate = format.frame_rate;
  if (rate.numerator > 0 && rate.denominator > 0)
    probe.frame_rate = static_cast<double>(rate.numerator) / static_cast<double>(rate.denominator);
  return probe;
}

}  // namespace

std::optional<Probe> probe(AnnexBFile& file, ExactCodec codec, int device) {
  make_current(device);
  std::optional<cuda::CUVIDEOFORMAT> format;
  cuda::CUVIDPARSERPARAMS parameters{};
  parameters.CodecType = codec_of(codec);
  parameters.ulMaxNumDecodeSurfaces = 1;
  parameters.pUserData = &format;
  parameters.pfnSequenceCallback = keep_format;
  parameters.pfnDecodePicture = [](void*, cuda::CUVIDPICPARAMS*) { return 0; };
  parameters.pfnDisplayPicture = [](void*, cuda::CUVIDPARSERDISPINFO*) { return 0; };
  cuda::CUvideoparser parser = nullptr;
  SACCADE_NVDEC(cuvidCreateVideoParser(&parser, &parameters));
  const std::unique_ptr<void, EndParsing> owner(parser);
  file.rewind();
  for (int i = 0; i < kMostFrames && !format; ++i) {
    const std::span<const std::uint8_t> frame = file.next();
    if (frame.empty()) break;
    cuda::CUVIDSOURCEDATAPACKET packet{
        .flags = cuda::CUVID_PKT_ENDOFPICTURE, .payload_size = frame.size(), .payload = frame.data(), .timestamp = 0};
    static_cast<void>(nvcuvid().cuvidParseVideoData(parser, &packet));
  }
  file.rewind();
  if (!format) return std::nullopt;
  return described(*format, codec);
}

}  // namespace saccade::nvdec
