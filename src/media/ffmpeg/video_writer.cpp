#include "ffmpeg/video_writer.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "ffmpeg/handles.hpp"
#include "ffmpeg/video_file.hpp"
#include "ffmpeg/video_push.hpp"
#include "media/convert.hpp"

namespace saccade {
namespace {

int even(int size) { return size + size % 2; }

class Writer final : public VideoWriter {
 public:
  /// NAME is that of OUTPUT in messages.
  Writer(const std::string& name, std::unique_ptr<VideoOutput> output, double frame_rate)
      : path_(name),
        rate_(av_d2q(frame_rate > 0 && std::isfinite(frame_rate) ? frame_rate : 30.0, 60'000)),
        output_(std::move(output)) {
    if (image_ == nullptr || packet_ == nullptr) fail(ErrorCode::kIo, "'{}': out of memory", name);
  }

  ~Writer() override {
    try {
      close();
    } catch (const Error&) {
      // Callers that need the error call close().
    }
  }

  void write(const FrameView& frame, std::int64_t timestamp_ns) override {
    if (closed_) fail(ErrorCode::kInvalidArgument, "'{}' is closed already", path_);
    if (frame.format != PixelFormat::kRgb24 && frame.format != PixelFormat::kI420)
      fail(ErrorCode::kInvalidArgument, "'{}': frames are written from rgb24 or i420, not from {}", path_,
           to_string(frame.format));
    if (encoder_ == nullptr) start(frame);
    if (frame.width != width_ || frame.height != height_)
      fail(ErrorCode::kInvalidArgument, "'{}': a frame of {}x{} can't follow one of {}x{} in one video", path_,
           frame.width, frame.height, width_, height_);
    check(av_frame_make_writable(image_.get()));
    fill(frame);
    image_->pts = next_pts(timestamp_ns);
    encode(image_.get());
  }

  void close() override {
    if (std::exchange(closed_, true)) return;
    // A container without an image is invalid: an existing file is kept, and the new one is removed.
    if (encoder_ != nullptr) {
      encode(nullptr);
      output_->finish();
    }
    output_.reset();
  }

  std::uint64_t encoded_bytes() const override { return bytes_; }

 private:
  void start(const FrameView& first) {
    const bool avi = output_->is_avi();
    // AVI has neither time stamps nor support for H.264's frame reordering: one frame per tick, MPEG-4.
    const AVCodec* x264 = avi ? nullptr : avcodec_find_encoder_by_name("libx264");
    const AVCodec* codec = x264 != nullptr ? x264 : avcodec_find_encoder(AV_CODEC_ID_MPEG4);
    if (codec == nullptr)
      fail(ErrorCode::kUnsupported, "'{}': this FFmpeg can encode neither H.264 (libx264) nor MPEG-4", path_);
    AvCodec encoder(avcodec_alloc_context3(codec));
    if (encoder == nullptr) fail(ErrorCode::kIo, "'{}': out of memory", path_);
    encoder->width = even(first.width);
    encoder->height = even(first.height);
    encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->colorspace = AVCOL_SPC_SMPTE170M;
    encoder->color_range = AVCOL_RANGE_MPEG;
    encoder->framerate = rate_;
    // MPEG-4 allows at most 65535 ticks per second.
    encoder->time_base = avi ? av_inv_q(rate_) : AVRational{1, x264 != nullptr ? 90'000 : 30'000};
    encoder->thread_count = 2;
    set_quality(*encoder, x264 != nullptr);
    if (output_->needs_global_header()) encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    const int error = avcodec_open2(encoder.get(), codec, nullptr);
    if (error < 0)
      fail(ErrorCode::kUnsupported, "'{}': the encoder {} does not take frames of {}x{}: {}", path_, codec->name,
           first.width, first.height, reason(error));
    output_->begin(*encoder, rate_);
    image_->format = encoder->pix_fmt;
    image_->width = encoder->width;
    image_->height = encoder->height;
    check(av_frame_get_buffer(image_.get(), 0));
    width_ = first.width;
    height_ = first.height;
    encoder_ = std::move(encoder);
  }

  /// The encoder holds no frame back for long: what it was given a second ago is in the file. Without B-frames and
  /// lookahead, a CRF of 25 equals one of 23 with them.
  void set_quality(AVCodecContext& encoder, bool x264) const {
    encoder.gop_size = static_cast<int>(std::clamp(std::round(av_q2d(rate_)), 1.0, 1000.0));
    encoder.max_b_frames = 0;
    if (x264) {
      av_opt_set(encoder.priv_data, "preset", "veryfast", 0);
      av_opt_set(encoder.priv_data, "crf", "25", 0);
      if (output_->is_live()) av_opt_set(encoder.priv_data, "tune", "zerolatency", 0);
      av_opt_set(encoder.priv_data, "x264-params", "rc-lookahead=0:sync-lookahead=0:mbtree=0", 0);
      return;
    }
    constexpr int kQuantizer = 4;
    encoder.flags |= AV_CODEC_FLAG_QSCALE;
    encoder.global_quality = FF_QP2LAMBDA * kQuantizer;
  }

  void fill(const FrameView& frame) {
    const I420View to = {{image_->data[0], image_->data[1], image_->data[2]},
                         {image_->linesize[0], image_->linesize[1], image_->linesize[2]},
                         image_->width,
                         image_->height};
    if (frame.format == PixelFormat::kRgb24) return to_i420(frame, to);
    const auto sizes = plane_sizes(frame.format, to.width, to.height);
    const auto given = plane_sizes(frame.format, frame.width, frame.height);
    for (std::size_t i = 0; i < sizes.size(); ++i) copy_padded(frame, i, given[i], sizes[i], to);
  }

  /// Repeats the last column and row of a plane of odd size.
  static void copy_padded(const FrameView& frame, std::size_t plane, PlaneSize given, PlaneSize wanted,
                          const I420View& to) {
    for (int y = 0; y < wanted.rows; ++y) {
      const std::uint8_t* from =
          frame.planes[plane] + static_cast<std::ptrdiff_t>(std::min(y, given.rows - 1)) * frame.pitch_bytes[plane];
      std::uint8_t* row = to.planes[plane] + static_cast<std::ptrdiff_t>(y) * to.pitch_bytes[plane];
      std::memcpy(row, from, static_cast<std::size_t>(given.row_bytes));
      if (wanted.row_bytes > given.row_bytes) row[given.row_bytes] = row[given.row_bytes - 1];
    }
  }

  /// Time stamps must increase: one that does not (images have none) is set one frame after the last.
  std::int64_t next_pts(std::int64_t timestamp_ns) {
    const AVRational unit = encoder_->time_base;
    const std::int64_t wanted = av_rescale_q(timestamp_ns, {1, 1'000'000'000}, unit);
    const std::int64_t frame = std::max<std::int64_t>(1, av_rescale_q(1, av_inv_q(rate_), unit));
    last_pts_ = last_pts_ == AV_NOPTS_VALUE || wanted > last_pts_ ? wanted : last_pts_ + frame;
    return last_pts_;
  }

  /// Null flushes the encoder.
  void encode(const AVFrame* image) {
    check(avcodec_send_frame(encoder_.get(), image));
    for (;;) {
      const int error = avcodec_receive_packet(encoder_.get(), packet_.get());
      if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) return;
      check(error);
      if (packet_->duration == 0) packet_->duration = av_rescale_q(1, av_inv_q(rate_), encoder_->time_base);
      bytes_ += static_cast<std::uint64_t>(packet_->size);
      output_->write(*packet_);
    }
  }

  void check(int error) const {
    if (error < 0) fail(ErrorCode::kIo, "'{}' can't be written: {}", path_, reason(error));
  }

  std::string path_;
  AVRational rate_;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<VideoOutput> output_;
  AvCodec encoder_;
  AvFrame image_{av_frame_alloc()};
  AvPacket packet_{av_packet_alloc()};
  int width_ = 0;
  int height_ = 0;
  std::int64_t last_pts_ = AV_NOPTS_VALUE;
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<VideoWriter> open_writer(const std::string& path, double frame_rate, OutputPath::Claim claim) {
  catch_messages();
  return std::make_unique<Writer>(path, std::make_unique<VideoFile>(path, claim), frame_rate);
}

std::unique_ptr<VideoWriter> push_video(const std::string& url, double frame_rate) {
  catch_messages();
  network::StreamUri target = network::parse_stream(url);
  target.name = network::publish_name(url);
  const std::string name = target.name;
  return std::make_unique<Writer>(name, std::make_unique<VideoPush>(std::move(target)), frame_rate);
}

}  // namespace saccade
