#include "cpu/loops/pixel_sum.hpp"

#include <algorithm>

#include "cpu/kernels/sample_kernels.hpp"

namespace saccade::cpu {

Channels::Channels(const Value& src, const Value& dst)
    : count(src.type.shape[1]),
      src_plane(src.type.shape[2] * src.type.shape[3]),
      dst_plane(dst.type.shape[2] * dst.type.shape[3]),
      last(dst.layout == Layout::kChannelsLast) {}

void PixelSum::flush() {
  if (channels_.last && taps_ > 0) {
    sample_kernels().combine(image_, offsets_.data(), weights_.data(), taps_, dst_,
                             static_cast<std::size_t>(channels_.count), written_);
  } else if (channels_.last) {
    std::fill_n(dst_, channels_.count, 0.0F);
  } else {
    for (std::int64_t c = 0; c < channels_.count; ++c) {
      float& sum = dst_[c * channels_.dst_plane];
      if (!written_) sum = 0;
      for (std::size_t i = 0; i < taps_; ++i) sum += weights_[i] * image_[c * channels_.src_plane + offsets_[i]];
    }
  }
  taps_ = 0;
  written_ = true;
}

}  // namespace saccade::cpu
