#include "nvdec/surfaces.hpp"

#include "nvdec/nvcuvid.hpp"

namespace saccade::nvdec {
namespace {

unsigned even(unsigned size) { return (size + 1) / 2 * 2; }

}  // namespace

Surfaces::Surfaces(const cuda::CUVIDEOFORMAT& format, unsigned count)
    : codec_(format.codec), width_(format.coded_width), height_(format.coded_height), count_(count) {
  cuda::CUVIDDECODECREATEINFO info{};
  info.ulWidth = info.ulMaxWidth = width_;
  info.ulHeight = info.ulMaxHeight = height_;
  info.ulNumDecodeSurfaces = count;
  info.CodecType = codec_;
  info.ChromaFormat = cuda::cudaVideoChromaFormat_420;
  info.ulCreationFlags = cuda::cudaVideoCreate_PreferCUVID;
  info.OutputFormat = cuda::cudaVideoSurfaceFormat_NV12;
  // The fields of an interlaced image together, as FFmpeg returns them.
  info.DeinterlaceMode = cuda::cudaVideoDeinterlaceMode_Weave;
  // The whole coded image, without scaling: its visible part is cut out by the copy.
  info.ulTargetWidth = even(width_);
  info.ulTargetHeight = even(height_);
  info.ulNumOutputSurfaces = 1;
  SACCADE_NVDEC(cuvidCreateDecoder(&decoder_, &info));
}

Surfaces::~Surfaces() { static_cast<void>(nvcuvid().cuvidDestroyDecoder(decoder_)); }

bool Surfaces::are_for(const cuda::CUVIDEOFORMAT& format, unsigned count) const {
  return format.codec == codec_ && format.coded_width == width_ && format.coded_height == height_ && count <= count_;
}

void Surfaces::decode(cuda::CUVIDPICPARAMS& image) const { SACCADE_NVDEC(cuvidDecodePicture(decoder_, &image)); }

bool Surfaces::is_damaged(int index) const {
  cuda::CUVIDGETDECODESTATUS status{};
  // Not every GPU and codec has it.
  if (nvcuvid().cuvidGetDecodeStatus(decoder_, index, &status) != cuda::CUDA_SUCCESS) return false;
  return status.decodeStatus == cuda::cuvidDecodeStatus_Error ||
         status.decodeStatus == cuda::cuvidDecodeStatus_Error_Concealed;
}

Surfaces::Mapping::Mapping(const Surfaces& surfaces, const cuda::CUVIDPARSERDISPINFO& shown, cuda::CUstream stream)
    : surfaces_(surfaces) {
  cuda::CUVIDPROCPARAMS parameters{};
  parameters.progressive_frame = shown.progressive_frame;
  parameters.top_field_first = shown.top_field_first;
  parameters.unpaired_field = shown.repeat_first_field < 0 ? 1 : 0;
  // The next mapping waits for what this stream does until then, so that the memory may be unmapped before.
  parameters.output_stream = stream;
  SACCADE_NVDEC(cuvidMapVideoFrame64(surfaces.decoder_, shown.picture_index, &address_, &pitch_, &parameters));
}

Surfaces::Mapping::~Mapping() { static_cast<void>(nvcuvid().cuvidUnmapVideoFrame64(surfaces_.decoder_, address_)); }

cuda::CUdeviceptr Surfaces::Mapping::chroma() const {
  return address_ + static_cast<cuda::CUdeviceptr>(pitch_) * even(surfaces_.height_);
}

}  // namespace saccade::nvdec
