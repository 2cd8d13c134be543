#include "ffmpeg/network_reader.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <atomic>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "ffmpeg/pixels.hpp"
#include "ffmpeg/stream_decoder.hpp"
#include "media/orient.hpp"

namespace saccade {
namespace {

class NetworkReader final : public FrameReader {
 public:
  NetworkReader(const network::StreamUri& stream, const ReaderOptions& options)
      : at_(options.at), decoder_(stream.frames, options.decode), receiver_(stream, options.wait) {
    if (image_ == nullptr) throw std::bad_alloc();
    if (options.decode != Decoding::kCuda || receiver_.first_format() == nullptr) return;
    const std::string why = StreamDecoder::gpu_refusal(*receiver_.first_format(), stream.frames, 0);
    if (!why.empty())
      fail(ErrorCode::kUnsupported, "{} can't be decoded by cuda:0: {}; --decode auto leaves it to the CPU",
           stream.name, why);
  }

  const SourceInfo& info() const override { return receiver_.info(); }

  SourceFaults faults() const override {
    SourceFaults faults = receiver_.faults();
    faults.format_changes += size_changes_;
    faults.replaced_timestamps = replaced_timestamps_;
    return faults;
  }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    decoder_.use(allocator);
    while (!cancelled_) {
      if (dropped_ > 0) {
        --dropped_;
        ++sequence_;
        return Failure{Status::kBehind, {}};
      }
      switch (decoder_.step(*image_)) {
        case StreamDecoder::Step::kImage: return deliver(allocator);
        case StreamDecoder::Step::kCorrupt: check_decoder(); return corrupt(decoder_.problem());
        case StreamDecoder::Step::kEmpty: break;
      }
      if (auto failure = take(receiver_.next())) return std::move(*failure);
    }
    return Failure{Status::kCancelled, info().name + ": reading was cancelled"};
  }

  void cancel() noexcept override {
    cancelled_ = true;
    receiver_.stop();
  }

 private:
  /// Why there is no frame; nothing if there may be one now.
  std::optional<Failure> take(Receiver::Event event) {
    switch (event.kind) {
      case Receiver::Event::Kind::kPacket:
        if (at_ != nullptr) *at_ = decoder_.packets();
        decoder_.feed(std::move(event.packet->packet), event.packet->follows_gap);
        break;
      case Receiver::Event::Kind::kDropped: dropped_ += event.dropped; break;
      case Receiver::Event::Kind::kAway: return Failure{Status::kTimeout, std::move(event.message)};
      case Receiver::Event::Kind::kNothing: return Failure{Status::kTimeout, {}};
      case Receiver::Event::Kind::kEnd:
        if (has_finished_) return Failure{Status::kEnd, info().name + ": end of the stream"};
        has_finished_ = true;
        decoder_.finish();
        break;
      case Receiver::Event::Kind::kStopped: break;
    }
    return std::nullopt;
  }

  /// A stream may change its codec without notice (MPEG-TS over UDP): then nothing can be decoded any more.
  void check_decoder() {
    constexpr std::chrono::seconds kPatience{10};
    constexpr int kFewest = 5;
    if (decoder_.refused() < kFewest || Clock::now() - last_image_ < kPatience) return;
    receiver_.open_anew(fmt::format("nothing that can be decoded for {} s", kPatience.count()));
    last_image_ = Clock::now();
  }

  Failure corrupt(const std::string& why) {
    return {Status::kCorrupt, fmt::format("{}: frame {} can't be decoded: {}", info().name, sequence_++, why)};
  }

  Outcome<Frame> deliver(FrameAllocator& allocator) {
    last_image_ = Clock::now();
    const StreamDecoder::Origin& origin = decoder_.origin(*image_);
    if (is_device_image(*image_)) return deliver_device_image(origin);
    const auto path = pixel_path(image_->format);
    if (!path) {
      const char* format = av_get_pix_fmt_name(static_cast<AVPixelFormat>(image_->format));
      av_frame_unref(image_.get());
      return corrupt(fmt::format("its pixel format, {}, is not supported", format));
    }
    note_size();
    // A quarter turn of 4:2:2 is no format of ours.
    const bool is_turnable = path->direct && path->format != PixelFormat::kI422;
    const int orientation = is_turnable ? origin.format->orientation : 1;
    const bool is_turned = swaps_sides(orientation);
    Frame frame;
    frame.lease = allocator.try_acquire(frame_bytes(path->format, is_turned ? image_->height : image_->width,
                                                    is_turned ? image_->width : image_->height));
    const std::int64_t sequence = sequence_++;
    if (!frame.lease) {
      av_frame_unref(image_.get());
      return Failure{Status::kNoBuffer, {}};
    }
    frame.view = copy_image(*image_, *path, orientation, frame.lease.buffer(), scratch_);
    frame.sequence = sequence;
    set_times(origin, frame);
    av_frame_unref(image_.get());
    return frame;
  }

  Outcome<Frame> deliver_device_image(const StreamDecoder::Origin& origin) {
    note_size();
    Frame frame;
    frame.sequence = sequence_++;
    set_times(origin, frame);
    DeviceImage image = decoder_.take_device_image();
    av_frame_unref(image_.get());
    if (!image.lease) return Failure{Status::kNoBuffer, {}};
    frame.view = image.view;
    frame.lease = std::move(image.lease);
    return frame;
  }

  /// A frame of another size than the last one's is that of a stream whose settings have changed.
  void note_size() {
    const std::pair size(image_->width, image_->height);
    if (size_.first > 0 && size != size_) ++size_changes_;
    size_ = size;
  }

  void set_times(const StreamDecoder::Origin& origin, Frame& frame) {
    std::optional<std::int64_t> presented;
    if (image_->best_effort_timestamp != AV_NOPTS_VALUE)
      presented = av_rescale_q(image_->best_effort_timestamp, origin.format->unit, {1, 1'000'000'000});
    if (std::exchange(format_, origin.format) != origin.format) clock_.restart();
    frame.timestamp_ns = clock_.stamp(origin.format->has_times ? presented : std::nullopt, origin.arrival.steady);
    std::optional<std::chrono::system_clock::time_point> sent;
    if (presented && origin.sender_offset)
      sent = std::chrono::system_clock::time_point(std::chrono::nanoseconds(static_cast<std::int64_t>(
          static_cast<std::uint64_t>(*presented) + static_cast<std::uint64_t>(*origin.sender_offset))));
    const network::SenderStamp stamp = network::check_sender(sent, origin.arrival);
    if (stamp.is_replaced && replaced_timestamps_++ == 0)
      log(LogLevel::kWarning,
          "{}: its clock is wrong: a frame's time lies after its arrival, or more than a minute before. Such times are "
          "replaced by that of the arrival",
          info().name);
    frame.captured_at = stamp.captured_at;
    frame.exposed = stamp.exposed;
    frame.captured = Clock::now();
    frame.capture_time = frame.captured - origin.arrival.steady;
  }

  std::atomic<std::int64_t>* at_;  ///< ReaderOptions::at
  AvFrame image_{av_frame_alloc()};
  StreamDecoder decoder_;
  std::shared_ptr<const ConnectionFormat> format_;  ///< of the last frame
  network::StreamClock clock_;
  std::int64_t sequence_ = 0;
  std::int64_t dropped_ = 0;  ///< frames that are not reported yet
  bool has_finished_ = false;
  Clock::time_point last_image_ = Clock::now();
  std::pair<int, int> size_;  ///< of the last frame
  std::vector<std::uint16_t> scratch_;
  std::atomic<std::int64_t> size_changes_ = 0;
  std::atomic<std::int64_t> replaced_timestamps_ = 0;
  std::atomic<bool> cancelled_ = false;
  Receiver receiver_;
};

}  // namespace

std::unique_ptr<FrameReader> open_network(const std::string& uri, const ReaderOptions& options) {
  catch_messages();
  return std::make_unique<NetworkReader>(network::parse_stream(uri), options);
}

}  // namespace saccade
