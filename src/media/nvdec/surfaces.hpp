#pragma once

#include "nvdec/nvcuvid_api.hpp"

namespace saccade::nvdec {

/// NVDEC's decoder of one sequence of images of the same size, with its memory for them. The GPU's context is current.
class Surfaces {
 public:
  /// COUNT images that are decoded or referred to. Throws Error (kDevice).
  Surfaces(const cuda::CUVIDEOFORMAT& format, unsigned count);
  ~Surfaces();
  Surfaces(const Surfaces&) = delete;
  Surfaces& operator=(const Surfaces&) = delete;

  /// Whether it decodes a sequence of FORMAT with COUNT images.
  bool are_for(const cuda::CUVIDEOFORMAT& format, unsigned count) const;
  /// Throws Error (kDevice).
  void decode(cuda::CUVIDPICPARAMS& image) const;
  /// The decoded image SHOWN as NV12, to be read by STREAM alone.
  class Mapping {
   public:
    Mapping(const Surfaces& surfaces, const cuda::CUVIDPARSERDISPINFO& shown, cuda::CUstream stream);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    cuda::CUdeviceptr luma() const { return address_; }
    cuda::CUdeviceptr chroma() const;
    unsigned pitch() const { return pitch_; }

   private:
    const Surfaces& surfaces_;
    unsigned long long address_ = 0;
    unsigned pitch_ = 0;
  };
  /// Whether the image with this index was decoded with errors.
  bool is_damaged(int index) const;

 private:
  cuda::CUvideodecoder decoder_ = nullptr;
  cuda::cudaVideoCodec codec_;
  unsigned width_;   ///< coded
  unsigned height_;  ///< coded
  unsigned count_;
};

}  // namespace saccade::nvdec
