#pragma once

extern "C" {
#include <libavcodec/bsf.h>
}

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "ffmpeg/handles.hpp"
#include "media/modules.hpp"

namespace saccade {

/// A video for NVDEC, whose calls and images are like libavcodec's: an image has the format AV_PIX_FMT_CUDA, the number
/// of its packet in reordered_opaque, and its pixels in take_image(). One thread, except for cancel().
class GpuCodec {
 public:
  /// Why the GPU with the number DEVICE does not decode PARAMETERS, with ORIENTATION as of EXIF; empty: it does.
  static std::string refusal(const AVCodecParameters& parameters, int orientation, int device);

  /// Timestamps have UNIT. See NvdecModule::open. Throws Error.
  GpuCodec(const AVCodecParameters& parameters, AVRational unit, bool is_live, int device, FrameAllocator& frames);

  /// As avcodec_send_packet(); a null PACKET ends the video. Negative: problem(). Throws Error if it can't go on.
  int send(const AVPacket* packet, std::int64_t number);
  /// As avcodec_receive_frame().
  int receive(AVFrame& image);
  /// The pixels of the last image of receive().
  DeviceImage take_image();
  /// As avcodec_flush_buffers().
  void flush();
  /// Whether the first packet may be sent again after the last one, without a flush() between them.
  bool may_repeat() const { return may_repeat_; }
  const std::string& problem() const { return problem_; }
  /// See DeviceDecoder.
  void give_back() noexcept { decoder_->give_back(); }
  void cancel() noexcept { decoder_->cancel(); }

 private:
  struct Stamp {
    std::int64_t presented = AV_NOPTS_VALUE;
    std::int64_t decoded = AV_NOPTS_VALUE;
    std::int64_t duration = 0;
    bool is_discarded = false;  ///< an edit list skips it
  };

  void open_filter(const AVCodecParameters& parameters, const char* name);
  bool may_begin(const AVPacket& packet);
  int send_filtered(const AVPacket& packet, std::int64_t number);
  int send_bytes(const AVPacket& packet, std::int64_t number);

  std::unique_ptr<AVBSFContext, AvDeleter<av_bsf_free>>
      filter_;  ///< makes Annex B of what MP4 and Matroska have; may be null
  AVRational unit_;
  AvPacket filtered_{av_packet_alloc()};
  std::unique_ptr<DeviceDecoder> decoder_;
  std::array<Stamp, 256> stamps_;     ///< by number of the packet, modulo the size: more than a decoder holds
  std::optional<DeviceImage> shown_;  ///< until it is taken
  bool has_ended_ = false;
  bool is_first_ = true;  ///< the next packet
  bool may_repeat_ = false;
  bool waits_for_key_ = true;
  int without_key_ = 0;  ///< packets, in a row
  std::string problem_;
};

/// Whether IMAGE is one of a GpuCodec.
inline bool is_device_image(const AVFrame& image) { return image.format == AV_PIX_FMT_CUDA; }

}  // namespace saccade
