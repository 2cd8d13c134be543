#include "ffmpeg/video_reader.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <atomic>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "ffmpeg/decoder.hpp"
#include "ffmpeg/pixels.hpp"
#include "media/container_end.hpp"
#include "media/orient.hpp"

namespace saccade {
namespace {

constexpr AVRational kNanoseconds = {1, 1'000'000'000};

class VideoReader final : public FrameReader {
 public:
  VideoReader(const std::string& path, const ReaderOptions& options)
      : path_(path), decoder_(path, options, {interrupted, this}) {
    describe();
    if (image_ == nullptr) fail(ErrorCode::kIo, "'{}': out of memory", path);
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    const auto start = Clock::now();
    if (cancelled_) return cancelled();
    try {
      decoder_.choose(allocator);
      const int error = decoder_.next(*image_);
      if (error == 0) return deliver(allocator, start);
      if (cancelled_) return cancelled();
      if (error != AVERROR_EOF) return damaged(decoder_.problem());
      decoder_.give_back();
      return ended();
    } catch (const Error& error) {
      if (cancelled_) return cancelled();
      return Failure{Status::kLost, error.what()};
    }
  }

  bool skip(std::int64_t number) override {
    decoder_.skip(number);
    return true;
  }

  void expect_rewind() override { decoder_.expect_rewind(); }

  bool rewind() override {
    if (!decoder_.rewind()) return false;
    sequence_ = 0;
    last_ns_ = 0;
    shown_until_ = 0;
    return true;
  }

  void cancel() noexcept override {
    cancelled_ = true;
    decoder_.cancel();
  }

 private:
  static int interrupted(void* self) { return static_cast<VideoReader*>(self)->cancelled_ ? 1 : 0; }

  void check_format(int format) const {
    if (!pixel_path(format))
      fail(ErrorCode::kUnsupported, "'{}': the pixel format {} is not supported; convert the video to yuv420p", path_,
           av_get_pix_fmt_name(static_cast<AVPixelFormat>(format)));
  }

  const AVStream& stream() const { return *decoder_.input().stream; }

  void describe() {
    const AVCodecParameters& parameters = *stream().codecpar;
    if (parameters.format != AV_PIX_FMT_NONE) check_format(parameters.format);
    orientation_ = orientation_of(stream());
    const auto path = pixel_path(parameters.format);
    // A quarter turn of horizontally subsampled chroma subsamples it vertically: no format of ours.
    const bool turnable = !path || (path->direct && path->format != PixelFormat::kI422);
    if (orientation_ != 1 && !turnable)
      fail(ErrorCode::kUnsupported, "'{}' is rotated, which is not supported for {}", path_,
           av_get_pix_fmt_name(static_cast<AVPixelFormat>(parameters.format)));
    info_.name = path_;
    const AVRational rate = av_guess_frame_rate(decoder_.input().file.get(), decoder_.input().stream, nullptr);
    info_.frame_rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
    info_.frames = stream().nb_frames > 0 ? stream().nb_frames : -1;
    info_.width = parameters.width;
    info_.height = parameters.height;
    if (swaps_sides(orientation_)) std::swap(info_.width, info_.height);
  }

  Outcome<Frame> deliver(FrameAllocator& allocator, Clock::time_point start) {
    if (is_device_image(*image_)) return deliver_device_image(start);
    const auto path = pixel_path(image_->format);
    if (!path) return Failure{Status::kLost, path_ + ": the video changes to a pixel format that is not supported"};
    if ((image_->flags & AV_FRAME_FLAG_CORRUPT) != 0 || image_->decode_error_flags != 0)
      return damaged("its data is incomplete");
    Frame frame;
    const bool turned = swaps_sides(orientation_);
    frame.lease = allocator.acquire(
        frame_bytes(path->format, turned ? image_->height : image_->width, turned ? image_->width : image_->height));
    if (!frame.lease) return cancelled();
    frame.view = copy_image(*image_, *path, orientation_, frame.lease.buffer(), scratch_);
    identify(frame, start);
    av_frame_unref(image_.get());
    return frame;
  }

  Outcome<Frame> deliver_device_image(Clock::time_point start) {
    Frame frame;
    identify(frame, start);
    DeviceImage image = decoder_.take_device_image();
    av_frame_unref(image_.get());
    if (!image.lease)
      return Failure{Status::kLost, path_ + ": the GPU returns more images at once than there are buffers for"};
    frame.view = image.view;
    frame.lease = std::move(image.lease);
    return frame;
  }

  void identify(Frame& frame, Clock::time_point start) {
    frame.sequence = sequence_++;
    frame.timestamp_ns = timestamp();
    frame.captured = Clock::now();
    frame.capture_time = frame.captured - start;
  }

  /// Nanoseconds since the stream's start; extrapolated by the frame rate where the file has no time stamp.
  std::int64_t timestamp() {
    const AVStream& from = stream();
    if (image_->best_effort_timestamp != AV_NOPTS_VALUE) {
      const std::int64_t start = from.start_time == AV_NOPTS_VALUE ? 0 : from.start_time;
      last_ns_ = av_rescale_q(image_->best_effort_timestamp - start, from.time_base, kNanoseconds);
    } else if (sequence_ > 1) {
      last_ns_ += info_.frame_rate > 0 ? static_cast<std::int64_t>(1e9 / info_.frame_rate) : 0;
    }
    shown_until_ = static_cast<double>(last_ns_) / 1e9;
    if (image_->pkt_duration > 0)
      shown_until_ += static_cast<double>(image_->pkt_duration) * av_q2d(from.time_base);
    else if (info_.frame_rate > 0)
      shown_until_ += 1 / info_.frame_rate;
    return last_ns_;
  }

  Failure damaged(const std::string& why) {
    av_frame_unref(image_.get());
    return {Status::kCorrupt, fmt::format("{}: frame {} can't be decoded: {}", path_, sequence_++, why)};
  }

  Failure ended() const {
    if (!decoder_.read_problem().empty())
      return {Status::kLost,
              fmt::format("{}: reading failed after frame {}: {}", path_, sequence_ - 1, decoder_.read_problem())};
    if (sequence_ == 0) return {Status::kLost, path_ + ": there is no frame in it that can be decoded"};
    const ContainerEnd end = container_end(path_);
    if (!end.cut.empty())
      return {Status::kLost,
              fmt::format("{}: the file is truncated after frame {}: {}", path_, sequence_ - 1, end.cut)};
    // AVI counts ticks, some of which may repeat the previous frame.
    const bool is_counted = !end.is_whole || std::string_view(decoder_.input().file->iformat->name) != "avi";
    if (is_counted && decoder_.packets() < info_.frames)
      return {Status::kLost, fmt::format("{}: the file ends after {} of {} frames: it is truncated or damaged", path_,
                                         decoder_.packets(), info_.frames)};
    if (const double missing = end.is_whole ? 0 : missing_seconds(); missing > 1)
      return {Status::kLost,
              fmt::format("{}: the file ends {:.1f} seconds early: it is truncated or damaged", path_, missing)};
    return {Status::kEnd, path_ + ": end of the video"};
  }

  /// How much longer the header says the video is, if the file does not count its frames.
  double missing_seconds() const {
    const double promised = info_.frames < 0 ? promised_seconds() : 0;
    return promised == 0 ? 0 : promised - shown_until_;
  }

  /// The video stream's own duration from its header; 0 if unknown (the file's duration may be another stream's).
  double promised_seconds() const {
    const AVFormatContext& file = *decoder_.input().file;
    if (file.duration_estimation_method != AVFMT_DURATION_FROM_STREAM) return 0;
    if (stream().duration != AV_NOPTS_VALUE) return static_cast<double>(stream().duration) * av_q2d(stream().time_base);
    return file.nb_streams == 1 && file.duration != AV_NOPTS_VALUE ? static_cast<double>(file.duration) / AV_TIME_BASE
                                                                   : 0;
  }

  Failure cancelled() const { return {Status::kCancelled, path_ + ": reading was cancelled"}; }

  std::string path_;
  std::atomic<bool> cancelled_ = false;
  VideoDecoder decoder_;
  AvFrame image_{av_frame_alloc()};
  SourceInfo info_;
  int orientation_ = 1;
  std::int64_t sequence_ = 0;
  std::int64_t last_ns_ = 0;
  double shown_until_ = 0;  ///< seconds
  std::vector<std::uint16_t> scratch_;
};

}  // namespace

std::unique_ptr<FrameReader> open_video(const std::string& path, const ReaderOptions& options) {
  catch_messages();
  return std::make_unique<VideoReader>(path, options);
}

}  // namespace saccade
