#include "ffmpeg/video_source.hpp"

extern "C" {
#include <libavutil/display.h>
#include <libavutil/parseutils.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string_view>

#include "base/clock.hpp"
#include "ffmpeg/handles.hpp"
#include "ffmpeg/pixels.hpp"
#include "media/file_kind.hpp"
#include "media/orient.hpp"

namespace saccade {
namespace {

/// Demuxers that turn text into pictures or that open other files: never what a user means by a video file.
constexpr std::string_view kRefusedFormats[] = {"tty", "concat", "hls", "dash", "sdp", "rtp"};

struct FreeDictionary {
  AVDictionary* entries = nullptr;
  ~FreeDictionary() { av_dict_free(&entries); }
};

AvInput open_input(const std::string& path, const AVIOInterruptCB& interrupt) {
  forget_message();
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) fail(ErrorCode::kIo, "'{}': out of memory", path);
  context->interrupt_callback = interrupt;
  FreeDictionary options;
  av_dict_set(&options.entries, "protocol_whitelist", "file", 0);
  av_dict_set(&options.entries, "pattern_type", "none", 0);  // a '%' in a picture's name is no sequence
  // "file:" keeps a colon in the name from being read as a protocol.
  const int error = avformat_open_input(&context, ("file:" + path).c_str(), nullptr, &options.entries);
  if (error < 0) fail(ErrorCode::kInvalidFile, "'{}' can't be read as an image or a video: {}", path, reason(error));
  AvInput input(context);
  for (std::string_view refused : kRefusedFormats)
    if (refused == input->iformat->name)
      fail(ErrorCode::kInvalidFile, "'{}' is neither an image nor a video (FFmpeg takes it for '{}')", path, refused);
  return input;
}

/// Quarter turns that a phone notes beside the pictures that it stores lying.
int orientation_of(const AVStream& stream) {
  std::size_t bytes = 0;
  const std::uint8_t* matrix = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
  if (matrix == nullptr || bytes < 9 * sizeof(std::int32_t)) return 1;
  const double anticlockwise = av_display_rotation_get(reinterpret_cast<const std::int32_t*>(matrix));
  if (std::isnan(anticlockwise)) return 1;
  switch ((static_cast<int>(std::lround(-anticlockwise / 90.0)) % 4 + 4) % 4) {
    case 1: return 6;
    case 2: return 3;
    case 3: return 8;
    default: return 1;
  }
}

class VideoSource final : public Source {
 public:
  VideoSource(const std::string& path, const SourceOptions& options)
      : path_(path), input_(open_input(path, {interrupted, this})) {
    int error = avformat_find_stream_info(input_.get(), nullptr);
    if (error < 0) fail(ErrorCode::kInvalidFile, "'{}' can't be read as a video: {}", path, reason(error));
    error = av_find_best_stream(input_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    if (error < 0) fail(ErrorCode::kInvalidFile, "'{}' has no video in it that can be read", path);
    stream_ = input_->streams[error];
    if ((stream_->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0)
      fail(ErrorCode::kInvalidFile, "'{}' has no video in it, only a cover picture", path);
    open_decoder(options);
    describe();
    if (packet_ == nullptr || picture_ == nullptr) fail(ErrorCode::kIo, "'{}': out of memory", path);
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    const auto start = Clock::now();
    forget_message();
    while (!cancelled_) {
      const int error = avcodec_receive_frame(decoder_.get(), picture_.get());
      if (error == 0) return deliver(allocator, start);
      if (error == AVERROR_EOF) return ended();
      if (error != AVERROR(EAGAIN)) return damaged(reason(error));
      const int fed = feed();
      if (fed < 0) return damaged(reason(fed));
    }
    return cancelled();
  }

  void cancel() noexcept override { cancelled_ = true; }

 private:
  static int interrupted(void* self) { return static_cast<VideoSource*>(self)->cancelled_ ? 1 : 0; }

  void open_decoder(const SourceOptions& options) {
    const AVCodecParameters& parameters = *stream_->codecpar;
    const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
    if (codec == nullptr)
      fail(ErrorCode::kUnsupported, "'{}': this FFmpeg has no decoder for {}", path_,
           avcodec_get_name(parameters.codec_id));
    if (parameters.width <= 0 || parameters.height <= 0)
      fail(ErrorCode::kInvalidFile, "'{}' is damaged: the size of its pictures is not known", path_);
    if (parameters.format != AV_PIX_FMT_NONE) check_format(parameters.format);
    decoder_.reset(avcodec_alloc_context3(codec));
    if (decoder_ == nullptr) fail(ErrorCode::kIo, "'{}': out of memory", path_);
    decoder_->thread_count = std::max(1, options.decode_threads);
    decoder_->max_pixels = kMaxPixels;
    decoder_->pkt_timebase = stream_->time_base;
    int error = avcodec_parameters_to_context(decoder_.get(), &parameters);
    if (error >= 0) error = avcodec_open2(decoder_.get(), codec, nullptr);
    if (error < 0) fail(ErrorCode::kInvalidFile, "'{}' can't be decoded: {}", path_, reason(error));
    // Only the video's packets are wanted: the demuxer skips the others.
    for (unsigned i = 0; i < input_->nb_streams; ++i)
      if (input_->streams[i] != stream_) input_->streams[i]->discard = AVDISCARD_ALL;
  }

  void check_format(int format) const {
    if (!pixel_path(format))
      fail(ErrorCode::kUnsupported, "'{}': the pixel format {} is not supported; convert the video to yuv420p", path_,
           av_get_pix_fmt_name(static_cast<AVPixelFormat>(format)));
  }

  void describe() {
    orientation_ = orientation_of(*stream_);
    const auto path = pixel_path(stream_->codecpar->format);
    // Chroma that is halved across only would be halved down only after a quarter turn: no format of ours.
    const bool turnable = !path || (path->direct && path->format != PixelFormat::kI422);
    if (orientation_ != 1 && !turnable)
      fail(ErrorCode::kUnsupported, "'{}' is to be turned, which is not supported for {}", path_,
           av_get_pix_fmt_name(static_cast<AVPixelFormat>(stream_->codecpar->format)));
    info_.name = path_;
    const AVRational rate = av_guess_frame_rate(input_.get(), stream_, nullptr);
    info_.frame_rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
    info_.frames = stream_->nb_frames > 0 ? stream_->nb_frames : -1;
    info_.width = stream_->codecpar->width;
    info_.height = stream_->codecpar->height;
    if (swaps_sides(orientation_)) std::swap(info_.width, info_.height);
  }

  /// Hands the decoder one packet, or the news that there are no more. Negative: the packet was refused.
  int feed() {
    while (!cancelled_) {
      const int error = av_read_frame(input_.get(), packet_.get());
      if (error < 0) {
        if (error != AVERROR_EOF && !cancelled_) read_error_ = reason(error);
        return avcodec_send_packet(decoder_.get(), nullptr);
      }
      const bool wanted = packet_->stream_index == stream_->index;
      const int sent = wanted ? avcodec_send_packet(decoder_.get(), packet_.get()) : 0;
      av_packet_unref(packet_.get());
      if (!wanted) continue;
      ++packets_;
      return sent;
    }
    return 0;
  }

  Outcome<Frame> deliver(FrameAllocator& allocator, Clock::time_point start) {
    const auto path = pixel_path(picture_->format);
    if (!path) return Failure{Status::kLost, path_ + ": the video changes to a pixel format that is not supported"};
    if ((picture_->flags & AV_FRAME_FLAG_CORRUPT) != 0 || picture_->decode_error_flags != 0)
      return damaged("its data is incomplete");
    Frame frame;
    const bool turned = swaps_sides(orientation_);
    frame.lease = allocator.acquire(frame_bytes(path->format, turned ? picture_->height : picture_->width,
                                                turned ? picture_->width : picture_->height));
    if (!frame.lease) return cancelled();
    frame.view = copy_picture(*picture_, *path, orientation_, frame.lease.buffer(), scratch_);
    frame.sequence = sequence_++;
    frame.timestamp_ns = timestamp();
    frame.captured = Clock::now();
    frame.capture_time = frame.captured - start;
    av_frame_unref(picture_.get());
    return frame;
  }

  /// Nanoseconds since the stream's start; counted on by the frame rate where the file says nothing.
  std::int64_t timestamp() {
    constexpr AVRational kNanoseconds = {1, 1'000'000'000};
    if (picture_->best_effort_timestamp != AV_NOPTS_VALUE) {
      const std::int64_t start = stream_->start_time == AV_NOPTS_VALUE ? 0 : stream_->start_time;
      last_ns_ = av_rescale_q(picture_->best_effort_timestamp - start, stream_->time_base, kNanoseconds);
    } else if (sequence_ > 1) {
      last_ns_ += info_.frame_rate > 0 ? static_cast<std::int64_t>(1e9 / info_.frame_rate) : 0;
    }
    return last_ns_;
  }

  Failure damaged(const std::string& why) {
    av_frame_unref(picture_.get());
    return {Status::kCorrupt, fmt::format("{}: frame {} can't be decoded: {}", path_, sequence_++, why)};
  }

  Failure ended() const {
    if (cancelled_) return cancelled();
    if (!read_error_.empty())
      return {Status::kLost, fmt::format("{}: reading failed after frame {}: {}", path_, sequence_ - 1, read_error_)};
    if (packets_ < info_.frames)
      return {Status::kLost, fmt::format("{}: the file ends after {} of {} frames: it is truncated or damaged", path_,
                                         packets_, info_.frames)};
    if (const double missing = missing_seconds(); missing > 1)
      return {Status::kLost,
              fmt::format("{}: the file ends {:.1f} seconds early: it is truncated or damaged", path_, missing)};
    return {Status::kEnd, path_ + ": end of the video"};
  }

  /// How much later the header says that the video ends, where the file has no count of its frames.
  double missing_seconds() const {
    const double promised = info_.frames < 0 ? promised_seconds() : 0;
    const double shown = info_.frame_rate > 0 ? 1 / info_.frame_rate : 0;
    return promised == 0 ? 0 : promised - static_cast<double>(last_ns_) / 1e9 - shown;
  }

  /// The video's own duration by its header; 0 where that says nothing (the whole file's may be another stream's).
  double promised_seconds() const {
    std::int64_t microseconds = 0;
    const AVDictionaryEntry* entry = av_dict_get(stream_->metadata, "DURATION", nullptr, 0);  // Matroska's
    if (entry != nullptr && av_parse_time(&microseconds, entry->value, 1) >= 0)
      return static_cast<double>(microseconds) / 1e6;
    if (input_->duration_estimation_method != AVFMT_DURATION_FROM_STREAM) return 0;
    if (stream_->duration != AV_NOPTS_VALUE) return static_cast<double>(stream_->duration) * av_q2d(stream_->time_base);
    const bool alone = input_->nb_streams == 1 && input_->duration != AV_NOPTS_VALUE;
    return alone ? static_cast<double>(input_->duration) / AV_TIME_BASE : 0;
  }

  Failure cancelled() const { return {Status::kCancelled, path_ + ": reading was cancelled"}; }

  std::string path_;
  std::atomic<bool> cancelled_ = false;
  AvInput input_;
  AVStream* stream_ = nullptr;  // belongs to input_
  AvCodec decoder_;
  AvPacket packet_{av_packet_alloc()};
  AvFrame picture_{av_frame_alloc()};
  SourceInfo info_;
  int orientation_ = 1;
  std::int64_t sequence_ = 0;
  std::int64_t packets_ = 0;
  std::int64_t last_ns_ = 0;
  std::string read_error_;
  std::vector<std::uint16_t> scratch_;
};

}  // namespace

std::unique_ptr<Source> open_video(const std::string& path, const SourceOptions& options) {
  catch_messages();
  return std::make_unique<VideoSource>(path, options);
}

}  // namespace saccade
