#pragma once

// Structures in device memory that the host writes and kernels read. The host's compiler and NVRTC both read this: no
// standard library.
namespace saccade::cuda {

/// Mapping of tensor positions to a component's samples along one axis.
struct JobAxis {
  double scale, first, offset;
  int begin, end;
};
/// Weights of neighbouring samples for the tensor positions that the frame covers along one axis
/// (ops/vision/pixel_filter.hpp).
struct JobTable {
  const int* first;    ///< by position: the first sample; on the device
  const int* weights;  ///< by position: TAPS
  int taps;
  int begin;  ///< the axis' first readable sample, which FIRST is relative to
};
struct JobComponent {
  const unsigned char* data;  ///< on the device
  int pitch, step;
};
/// A Bayer mosaic (tensor/mosaic.hpp), whose samples are those of a frame's first component.
struct JobMosaic {
  int width, height;
  int red_x, red_y;  ///< the first red sample
};
/// Frame-dependent parameters of pixels.cuh; preprocess.cpp writes them before every run.
struct FrameJob {
  JobComponent parts[3];
  JobAxis across[2];  ///< of the first component, and of the others
  JobAxis down[2];
  JobTable across_table[2];  ///< instead of the axes, for interpolation by tables
  JobTable down_table[2];
  float geometry[6];
  int black, luma, red_v, green_u, green_v, blue_u;
  int first_column, end_column, first_row, end_row;  ///< range of the tensor that the frame covers
  int model;
  JobMosaic mosaic;  ///< of kMosaicModel
};
constexpr int kRgbModel = 0;
constexpr int kYuvModel = 1;
constexpr int kGrayModel = 2;
constexpr int kMosaicModel = 3;  ///< of the device alone: the host has kRgb with a mosaic

/// A zero-copy transfer between pinned host memory and the device (transfer.cuh). Addresses are those of the device.
struct alignas(64) Copy {
  unsigned long long from = 0;
  unsigned long long to = 0;
  long long bytes = 0;
  unsigned long long count = 0;  ///< of an int32 or int64: the number of valid rows; 0: all BYTES are copied
  long long row_bytes = 0;       ///< bytes per row, if there is a COUNT
};
constexpr int kCopyWords = 5;  ///< of 8 bytes: the members of Copy
static_assert(sizeof(Copy) == 64);

/// Epilogue of an integer accumulator: bias, then rescaling to the output's scale.
struct ByteBias {
  int bias;  ///< in accumulator units; includes the input zero point's contribution
  float factor;
};

}  // namespace saccade::cuda
