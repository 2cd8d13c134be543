#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/driver/driver_api.hpp"

// The parts of NVDEC's ABI that are used, declared here as driver_api.hpp does for the driver. Names and values are
// NVIDIA's (cuviddec.h, nvcuvid.h of the Video Codec SDK), for 64-bit Linux; layouts are checked below.
namespace saccade::cuda {

using CUvideoparser = void*;
using CUvideodecoder = void*;

enum cudaVideoCodec : int {
  cudaVideoCodec_H264 = 4,
  cudaVideoCodec_JPEG = 5,
  cudaVideoCodec_HEVC = 8,
  cudaVideoCodec_VP8 = 9,
  cudaVideoCodec_VP9 = 10,
  cudaVideoCodec_AV1 = 11,
};
enum cudaVideoChromaFormat : int { cudaVideoChromaFormat_Monochrome = 0, cudaVideoChromaFormat_420 = 1 };
enum cudaVideoSurfaceFormat : int { cudaVideoSurfaceFormat_NV12 = 0 };
enum cudaVideoDeinterlaceMode : int { cudaVideoDeinterlaceMode_Weave = 0 };
enum cuvidDecodeStatus : int {
  cuvidDecodeStatus_Invalid = 0,
  cuvidDecodeStatus_InProgress = 1,
  cuvidDecodeStatus_Success = 2,
  cuvidDecodeStatus_Error = 8,
  cuvidDecodeStatus_Error_Concealed = 9,
};
inline constexpr unsigned long cudaVideoCreate_PreferCUVID = 4;
inline constexpr unsigned long CUVID_PKT_ENDOFSTREAM = 1;
inline constexpr unsigned long CUVID_PKT_TIMESTAMP = 2;
inline constexpr unsigned long CUVID_PKT_ENDOFPICTURE = 8;

struct CUVIDDECODECAPS {
  cudaVideoCodec eCodecType;
  cudaVideoChromaFormat eChromaFormat;
  unsigned nBitDepthMinus8;
  unsigned reserved1[3];
  unsigned char bIsSupported;
  unsigned char nNumNVDECs;
  unsigned short nOutputFormatMask;
  unsigned nMaxWidth;
  unsigned nMaxHeight;
  unsigned nMaxMBCount;
  unsigned short nMinWidth;
  unsigned short nMinHeight;
  unsigned reserved3[11];
};

struct CUVIDRECT16 {
  short left, top, right, bottom;
};

struct CUVIDDECODECREATEINFO {
  unsigned long ulWidth;
  unsigned long ulHeight;
  unsigned long ulNumDecodeSurfaces;
  cudaVideoCodec CodecType;
  cudaVideoChromaFormat ChromaFormat;
  unsigned long ulCreationFlags;
  unsigned long bitDepthMinus8;
  unsigned long ulIntraDecodeOnly;
  unsigned long ulMaxWidth;
  unsigned long ulMaxHeight;
  unsigned long Reserved1;
  CUVIDRECT16 display_area;
  cudaVideoSurfaceFormat OutputFormat;
  cudaVideoDeinterlaceMode DeinterlaceMode;
  unsigned long ulTargetWidth;
  unsigned long ulTargetHeight;
  unsigned long ulNumOutputSurfaces;
  void* vidLock;
  CUVIDRECT16 target_rect;
  unsigned long Reserved2[5];
};

/// The head of it; the rest is passed on.
struct CUVIDPICPARAMS {
  int PicWidthInMbs;
  int FrameHeightInMbs;
  int CurrPicIdx;
  int field_pic_flag;
  int bottom_field_flag;
  int second_field;
  unsigned nBitstreamDataLen;
  const unsigned char* pBitstreamData;
  unsigned nNumSlices;
  const unsigned* pSliceDataOffsets;
  int ref_pic_flag;
  int intra_pic_flag;
  unsigned Reserved[30];
  unsigned CodecReserved[1024];
};

struct CUVIDPROCPARAMS {
  int progressive_frame;
  int second_field;
  int top_field_first;
  int unpaired_field;
  unsigned reserved_flags;
  unsigned reserved_zero;
  unsigned long long raw_input_dptr;
  unsigned raw_input_pitch;
  unsigned raw_input_format;
  unsigned long long raw_output_dptr;
  unsigned raw_output_pitch;
  unsigned Reserved1;
  CUstream output_stream;
  unsigned Reserved[46];
  void* Reserved2[2];
};

struct CUVIDGETDECODESTATUS {
  cuvidDecodeStatus decodeStatus;
  unsigned reserved[31];
  void* pReserved[8];
};

struct CUVIDEOFORMAT {
  cudaVideoCodec codec;
  struct {
    unsigned numerator, denominator;
  } frame_rate;
  unsigned char progressive_sequence;
  unsigned char bit_depth_luma_minus8;
  unsigned char bit_depth_chroma_minus8;
  unsigned char min_num_decode_surfaces;
  unsigned coded_width;
  unsigned coded_height;
  struct {
    int left, top, right, bottom;
  } display_area;
  cudaVideoChromaFormat chroma_format;
  unsigned bitrate;
  struct {
    int x, y;
  } display_aspect_ratio;
  struct {
    unsigned char video_format : 3;
    unsigned char video_full_range_flag : 1;
    unsigned char reserved_zero_bits : 4;
    unsigned char color_primaries;
    unsigned char transfer_characteristics;
    unsigned char matrix_coefficients;
  } video_signal_description;
  unsigned seqhdr_data_length;
};

struct CUVIDSOURCEDATAPACKET {
  unsigned long flags;
  unsigned long payload_size;
  const unsigned char* payload;
  long long timestamp;
};

struct CUVIDPARSERDISPINFO {
  int picture_index;
  int progressive_frame;
  int top_field_first;
  int repeat_first_field;
  long long timestamp;
};

struct CUVIDPARSERPARAMS {
  cudaVideoCodec CodecType;
  unsigned ulMaxNumDecodeSurfaces;
  unsigned ulClockRate;
  unsigned ulErrorThreshold;
  unsigned ulMaxDisplayDelay;
  unsigned uReserved1[5];
  void* pUserData;
  int (*pfnSequenceCallback)(void* user, CUVIDEOFORMAT* format);
  int (*pfnDecodePicture)(void* user, CUVIDPICPARAMS* image);
  int (*pfnDisplayPicture)(void* user, CUVIDPARSERDISPINFO* shown);
  void* pvReserved2[7];
  void* pExtVideoInfo;
};

static_assert(sizeof(unsigned long) == 8 && sizeof(void*) == 8);
static_assert(sizeof(CUVIDDECODECAPS) == 88 && offsetof(CUVIDDECODECAPS, bIsSupported) == 24 &&
              offsetof(CUVIDDECODECAPS, nMaxWidth) == 28 && offsetof(CUVIDDECODECAPS, nMinWidth) == 40);
static_assert(sizeof(CUVIDDECODECREATEINFO) == 176 && offsetof(CUVIDDECODECREATEINFO, CodecType) == 24 &&
              offsetof(CUVIDDECODECREATEINFO, display_area) == 80 &&
              offsetof(CUVIDDECODECREATEINFO, ulTargetWidth) == 96 &&
              offsetof(CUVIDDECODECREATEINFO, target_rect) == 128);
static_assert(sizeof(CUVIDPICPARAMS) == 4280 && offsetof(CUVIDPICPARAMS, pBitstreamData) == 32 &&
              offsetof(CUVIDPICPARAMS, ref_pic_flag) == 56 && offsetof(CUVIDPICPARAMS, CodecReserved) == 184);
static_assert(sizeof(CUVIDPROCPARAMS) == 264 && offsetof(CUVIDPROCPARAMS, output_stream) == 56);
static_assert(sizeof(CUVIDGETDECODESTATUS) == 192);
static_assert(sizeof(CUVIDEOFORMAT) == 64 && offsetof(CUVIDEOFORMAT, coded_width) == 16 &&
              offsetof(CUVIDEOFORMAT, chroma_format) == 40 && offsetof(CUVIDEOFORMAT, seqhdr_data_length) == 60);
static_assert(sizeof(CUVIDSOURCEDATAPACKET) == 32 && sizeof(CUVIDPARSERDISPINFO) == 24);
static_assert(sizeof(CUVIDPARSERPARAMS) == 136 && offsetof(CUVIDPARSERPARAMS, pUserData) == 40 &&
              offsetof(CUVIDPARSERPARAMS, pExtVideoInfo) == 128);

// clang-format off
#define SACCADE_NVCUVID(X)                                                                                        \
  X(cuvidGetDecoderCaps, (CUVIDDECODECAPS * caps))                                                                \
  X(cuvidCreateVideoParser, (CUvideoparser * parser, CUVIDPARSERPARAMS* parameters))                              \
  X(cuvidParseVideoData, (CUvideoparser parser, CUVIDSOURCEDATAPACKET* packet))                                   \
  X(cuvidDestroyVideoParser, (CUvideoparser parser))                                                              \
  X(cuvidCreateDecoder, (CUvideodecoder * decoder, CUVIDDECODECREATEINFO* info))                                  \
  X(cuvidDestroyDecoder, (CUvideodecoder decoder))                                                                \
  X(cuvidDecodePicture, (CUvideodecoder decoder, CUVIDPICPARAMS* image))                                        \
  X(cuvidGetDecodeStatus, (CUvideodecoder decoder, int image, CUVIDGETDECODESTATUS* status))                    \
  X(cuvidMapVideoFrame64, (CUvideodecoder decoder, int image, unsigned long long* address, unsigned* pitch,     \
                           CUVIDPROCPARAMS* parameters))                                                          \
  X(cuvidUnmapVideoFrame64, (CUvideodecoder decoder, unsigned long long address))
// clang-format on

struct NvcuvidApi {
#define SACCADE_NVCUVID_POINTER(name, parameters) CUresult(*name) parameters = nullptr;
  SACCADE_NVCUVID(SACCADE_NVCUVID_POINTER)
#undef SACCADE_NVCUVID_POINTER
};

}  // namespace saccade::cuda
