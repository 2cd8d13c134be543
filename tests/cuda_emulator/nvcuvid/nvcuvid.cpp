#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "calls.hpp"
#include "nvcuvid/nvcuvid_functions.hpp"
#include "nvcuvid/nvcuvid_state.hpp"

// The emulated NVDEC, that of Hopper: H.264, HEVC, VP8, VP9 and JPEG; ten bits of HEVC and VP9; no AV1.
//
// A mapped image is written by the stream that the client names, when that stream runs: a copy by another stream
// without a synchronisation shows. An image can't be mapped before it is displayed, nor more images than there are
// output surfaces.
namespace saccade::emulator {
namespace {

#define SACCADE_BEGIN(function) \
  if (const int injected = note_call(#function); injected != 0) return static_cast<CUresult>(injected)

constexpr unsigned kPitchAlignment = 512;

template <typename Function>
Function driver_function(const char* name) {
  return reinterpret_cast<Function>(driver_symbol(name));
}

std::size_t surface_bytes(const Decoder& decoder) {
  return static_cast<std::size_t>(decoder.pitch) * decoder.info.ulTargetHeight * 3 / 2;
}

void set_limits(CUVIDDECODECAPS& caps) {
  const bool is_h264 = caps.eCodecType == cudaVideoCodec_H264;
  caps.bIsSupported = 1;
  caps.nNumNVDECs = 1;
  caps.nOutputFormatMask = 1;
  caps.nMaxWidth = caps.nMaxHeight = is_h264 ? 4096 : 8192;
  caps.nMaxMBCount = caps.nMaxWidth * caps.nMaxHeight / 256;
  caps.nMinWidth = is_h264 ? 48 : 128;
  caps.nMinHeight = is_h264 ? 16 : 128;
}

bool is_supported(const CUVIDDECODECAPS& caps) {
  if (caps.eChromaFormat != cudaVideoChromaFormat_420) return false;
  switch (caps.eCodecType) {
    case cudaVideoCodec_HEVC:
    case cudaVideoCodec_VP9: return caps.nBitDepthMinus8 == 0 || caps.nBitDepthMinus8 == 2;
    case cudaVideoCodec_H264:
    case cudaVideoCodec_VP8:
    case cudaVideoCodec_JPEG: return caps.nBitDepthMinus8 == 0;
    default: return false;
  }
}

/// FRAME, which has its coded size, as NV12 in rows of PITCH bytes.
std::vector<std::uint8_t> nv12_of(const AVFrame& frame, const Decoder& decoder) {
  std::vector<std::uint8_t> rows(surface_bytes(decoder), 0xFF);
  for (int y = 0; y < frame.height; ++y)
    std::memcpy(rows.data() + static_cast<std::size_t>(y) * decoder.pitch, frame.data[0] + y * frame.linesize[0],
                static_cast<std::size_t>(frame.width));
  std::uint8_t* const chroma = rows.data() + static_cast<std::size_t>(decoder.pitch) * decoder.info.ulTargetHeight;
  for (int y = 0; y < (frame.height + 1) / 2; ++y)
    for (int x = 0; x < (frame.width + 1) / 2; ++x)
      for (int c = 0; c < 2; ++c)
        chroma[static_cast<std::size_t>(y) * decoder.pitch + static_cast<std::size_t>(2 * x + c)] =
            frame.data[1 + c][y * frame.linesize[1 + c] + x];
  return rows;
}

}  // namespace

void* driver_symbol(const char* name) {
  static void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : dlsym(library, name);
}

}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

CUresult cuvidGetDecoderCaps(CUVIDDECODECAPS* caps) {
  SACCADE_BEGIN(cuvidGetDecoderCaps);
  if (is_supported(*caps)) set_limits(*caps);
  return CUDA_SUCCESS;
}

CUresult cuvidCreateVideoParser(CUvideoparser* parser, CUVIDPARSERPARAMS* parameters) {
  SACCADE_BEGIN(cuvidCreateVideoParser);
  *parser = new Parser(*parameters);
  return CUDA_SUCCESS;
}

CUresult cuvidParseVideoData(CUvideoparser parser, CUVIDSOURCEDATAPACKET* packet) {
  SACCADE_BEGIN(cuvidParseVideoData);
  return static_cast<Parser*>(parser)->parse(*packet);
}

CUresult cuvidDestroyVideoParser(CUvideoparser parser) {
  SACCADE_BEGIN(cuvidDestroyVideoParser);
  delete static_cast<Parser*>(parser);
  return CUDA_SUCCESS;
}

CUresult cuvidCreateDecoder(CUvideodecoder* decoder, CUVIDDECODECREATEINFO* info) {
  SACCADE_BEGIN(cuvidCreateDecoder);
  if (info->ulNumDecodeSurfaces == 0 || info->ulNumOutputSurfaces == 0 || info->ulTargetWidth % 2 != 0 ||
      info->ulTargetHeight % 2 != 0 || info->ulTargetWidth < info->ulWidth || info->ulTargetHeight < info->ulHeight)
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<Decoder>();
  made->info = *info;
  made->pitch = static_cast<unsigned>(info->ulTargetWidth + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  made->mapped.resize(info->ulNumOutputSurfaces);
  static const auto allocate = driver_function<decltype(DriverApi::cuMemAlloc_v2)>("cuMemAlloc_v2");
  if (const CUresult result = allocate(&made->memory, info->ulNumOutputSurfaces * surface_bytes(*made));
      result != CUDA_SUCCESS)
    return result;
  *decoder = made.release();
  return CUDA_SUCCESS;
}

CUresult cuvidDestroyDecoder(CUvideodecoder handle) {
  SACCADE_BEGIN(cuvidDestroyDecoder);
  const std::unique_ptr<Decoder> decoder(static_cast<Decoder*>(handle));
  static const auto release = driver_function<decltype(DriverApi::cuMemFree_v2)>("cuMemFree_v2");
  return release(decoder->memory);
}

CUresult cuvidDecodePicture(CUvideodecoder handle, CUVIDPICPARAMS* image) {
  SACCADE_BEGIN(cuvidDecodePicture);
  auto& decoder = *static_cast<Decoder*>(handle);
  if (image->CurrPicIdx < 0 || static_cast<unsigned long>(image->CurrPicIdx) >= decoder.info.ulNumDecodeSurfaces)
    return CUDA_ERROR_INVALID_VALUE;
  decoder.images[image->CurrPicIdx] = *reinterpret_cast<const std::shared_ptr<Image>*>(image->pBitstreamData);
  return CUDA_SUCCESS;
}

CUresult cuvidGetDecodeStatus(CUvideodecoder handle, int image, CUVIDGETDECODESTATUS* status) {
  SACCADE_BEGIN(cuvidGetDecodeStatus);
  const auto& images = static_cast<Decoder*>(handle)->images;
  const auto found = images.find(image);
  if (found == images.end() || found->second->frame == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const AVFrame& frame = *found->second->frame;
  const bool is_damaged = (frame.flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame.decode_error_flags != 0;
  status->decodeStatus = is_damaged ? cuvidDecodeStatus_Error_Concealed : cuvidDecodeStatus_Success;
  return CUDA_SUCCESS;
}

CUresult cuvidMapVideoFrame64(CUvideodecoder handle, int image, unsigned long long* address, unsigned* pitch,
                              CUVIDPROCPARAMS* parameters) {
  SACCADE_BEGIN(cuvidMapVideoFrame64);
  auto& decoder = *static_cast<Decoder*>(handle);
  const auto found = decoder.images.find(image);
  if (found == decoder.images.end() || found->second->frame == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const AVFrame& frame = *found->second->frame;
  if (static_cast<unsigned long>(frame.width) > decoder.info.ulTargetWidth ||
      static_cast<unsigned long>(frame.height) > decoder.info.ulTargetHeight)
    return CUDA_ERROR_INVALID_VALUE;
  const auto free = std::find(decoder.mapped.begin(), decoder.mapped.end(), false);
  if (free == decoder.mapped.end()) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::vector<std::uint8_t> rows = nv12_of(frame, decoder);
  const auto surface = static_cast<std::size_t>(free - decoder.mapped.begin());
  *address = decoder.memory + surface * surface_bytes(decoder);
  *pitch = decoder.pitch;
  static const auto copy = driver_function<decltype(DriverApi::cuMemcpyHtoDAsync_v2)>("cuMemcpyHtoDAsync_v2");
  const CUresult result = copy(*address, rows.data(), rows.size(), parameters->output_stream);
  if (result == CUDA_SUCCESS) *free = true;
  return result;
}

CUresult cuvidUnmapVideoFrame64(CUvideodecoder handle, unsigned long long address) {
  SACCADE_BEGIN(cuvidUnmapVideoFrame64);
  auto& decoder = *static_cast<Decoder*>(handle);
  const std::size_t surface = (address - decoder.memory) / surface_bytes(decoder);
  if (surface >= decoder.mapped.size() || !decoder.mapped[surface]) return CUDA_ERROR_INVALID_VALUE;
  decoder.mapped[surface] = false;
  return CUDA_SUCCESS;
}

}  // namespace saccade::cuda
