#pragma once

#include <memory>

#include "ffmpeg/interrupt.hpp"
#include "ffmpeg/video_output.hpp"
#include "media/network/uri.hpp"

namespace saccade {

/// Publishes a video to a server: RTSP (RECORD), RTMP, or MPEG-TS over SRT. Each call takes no longer than the timeout
/// of the target. After an error the object is of no use: a further one connects again.
class VideoPush final : public VideoOutput {
 public:
  /// Does not connect. Throws Error (kInvalidArgument) if the scheme is none of these, or an option has no meaning.
  explicit VideoPush(network::StreamUri target);
  ~VideoPush() override;

  bool needs_global_header() const override { return (output_->oformat->flags & AVFMT_GLOBALHEADER) != 0; }
  bool is_live() const override { return true; }
  /// Connects.
  void begin(const AVCodecContext& encoder, AVRational rate) override;
  void write(AVPacket& packet) override;
  void finish() override;

 private:
  struct CloseOutput {
    void operator()(AVFormatContext* context) const noexcept;
  };

  void limit_time();
  void check(int error) const;

  const network::StreamUri target_;
  Interrupt interrupt_;  ///< outlives the output
  std::unique_ptr<AVFormatContext, CloseOutput> output_;
  AVRational encoder_unit_{};
  bool has_begun_ = false;
};

}  // namespace saccade
