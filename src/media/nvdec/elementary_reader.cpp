#include "nvdec/elementary_reader.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "media/elementary.hpp"
#include "nvdec/annex_b.hpp"
#include "nvdec/capabilities.hpp"
#include "nvdec/decoder.hpp"
#include "nvdec/probe.hpp"

namespace saccade::nvdec {
namespace {

/// Of a stream that does not say its rate, as FFmpeg takes it.
constexpr double kUsualRate = 25;

class ElementaryReader final : public FrameReader {
 public:
  ElementaryReader(const std::string& path, ExactCodec codec, const ReaderOptions& options)
      : path_(path), codec_(codec), at_(options.at), file_(path, codec) {
    const std::optional<Probe> found = probe(file_, codec, 0);
    if (!found)
      fail(ErrorCode::kInvalidFile, "'{}' can't be read as a video: it has no parameter sets of {}", path,
           name_of(codec));
    video_ = found->video;
    if (const std::string why = refusal(video_, 0); !why.empty())
      fail(ErrorCode::kUnsupported, "'{}' can't be decoded by the GPU: {}", path, why);
    info_.name = path;
    info_.width = found->width;
    info_.height = found->height;
    info_.frame_rate = found->frame_rate > 0 ? found->frame_rate : kUsualRate;
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    const auto start = Clock::now();
    try {
      open(allocator);
      while (!cancelled_) {
        std::optional<DeviceImage> image = held_ ? std::exchange(held_, std::nullopt) : decoder_->next();
        if (image && is_ahead_ && image->packet >= round_) {
          held_ = std::move(image);
          return ended();
        }
        if (image) return deliver(std::move(*image), start);
        if (has_ended_) return ended();
        if (auto failure = feed()) return std::move(*failure);
      }
    } catch (const Error& error) {
      if (!cancelled_) return Failure{Status::kLost, error.what()};
    }
    return Failure{Status::kCancelled, path_ + ": reading was cancelled"};
  }

  void expect_rewind() override { is_looped_ = true; }

  bool rewind() override {
    if (std::exchange(is_ahead_, false)) {
      sequence_ = 0;
      return true;
    }
    try {
      if (decoder_ != nullptr) decoder_->flush();
    } catch (const Error& error) {
      log(LogLevel::kWarning, "{}: it is opened again: {}", path_, error.what());
      return false;
    }
    file_.rewind();
    sequence_ = packets_ = round_ = 0;
    has_ended_ = false;
    keys_ = {};
    damage_ = -1;
    return true;
  }

  void cancel() noexcept override {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
    if (decoder_ != nullptr) decoder_->cancel();
  }

 private:
  void open(FrameAllocator& allocator) {
    if (decoder_ != nullptr) return;
    auto made = open_decoder(video_, std::max(allocator.memory().device(), 0), allocator);
    const std::scoped_lock lock(mutex_);
    decoder_ = std::move(made);
  }

  /// Why there is no frame; nothing if there may be one now.
  std::optional<Failure> feed() {
    std::span<const std::uint8_t> unit = file_.next();
    if (unit.empty() && may_repeat_ && !is_ahead_) {
      // The GPU has as much to decode between two rounds as within one.
      is_ahead_ = true;
      round_ = packets_;
      file_.rewind();
      unit = file_.next();
    }
    if (unit.empty()) {
      decoder_->finish();
      has_ended_ = true;
      return std::nullopt;
    }
    const std::int64_t number = packets_++;
    if (number == round_) may_repeat_ = is_looped_ && decoder_->may_follow_all(unit);
    if (at_ != nullptr) *at_ = number;
    if (inspect_unit(unit, codec_).is_key) keys_[static_cast<std::size_t>(next_key_++) % keys_.size()] = number;
    const std::string problem = decoder_->send(unit, number);
    if (problem.empty()) return std::nullopt;
    return damaged(number, problem);
  }

  Outcome<Frame> deliver(DeviceImage image, Clock::time_point start) {
    if (image.is_damaged) return damaged(image.packet, "its data is incomplete");
    if (refers_to_damage(image.packet)) return corrupt("it refers to a frame that is damaged");
    if (!image.lease) return damaged(image.packet, "the decoder returns more frames at once than there are buffers");
    Frame frame;
    frame.view = image.view;
    frame.lease = std::move(image.lease);
    frame.sequence = sequence_++;
    frame.timestamp_ns = static_cast<std::int64_t>(static_cast<double>(frame.sequence) * 1e9 / info_.frame_rate);
    frame.captured = Clock::now();
    frame.capture_time = frame.captured - start;
    return frame;
  }

  Failure damaged(std::int64_t packet, const std::string& why) {
    damage_ = std::max(damage_, packet);
    return corrupt(why);
  }

  Failure corrupt(const std::string& why) {
    return {Status::kCorrupt, fmt::format("{}: frame {} can't be decoded: {}", path_, sequence_++, why)};
  }

  /// The hardware decodes what refers to a damaged frame from whatever is there, without a word. No key frame between
  /// the damage and the image: it may refer to that.
  bool refers_to_damage(std::int64_t packet) const {
    if (damage_ < 0) return false;
    return std::ranges::none_of(keys_, [&](std::int64_t key) { return key > damage_ && key <= packet; });
  }

  Failure ended() const {
    if (!is_ahead_) decoder_->give_back();
    if (sequence_ == 0) return {Status::kLost, path_ + ": there is no frame in it that can be decoded"};
    return {Status::kEnd, path_ + ": end of the video"};
  }

  std::string path_;
  ExactCodec codec_;
  std::atomic<std::int64_t>* at_;  ///< ReaderOptions::at
  AnnexBFile file_;
  SourceInfo info_;
  DeviceVideo video_;
  std::mutex mutex_;  ///< of the decoder against cancel()
  std::unique_ptr<DeviceDecoder> decoder_;
  std::atomic<bool> cancelled_ = false;
  bool has_ended_ = false;  ///< nothing follows what the decoder has
  std::int64_t sequence_ = 0;
  std::int64_t packets_ = 0;
  std::int64_t round_ = 0;               ///< the first packet of the latest round
  bool is_looped_ = false;               ///< expect_rewind()
  bool may_repeat_ = false;              ///< the first packet may follow the last one
  bool is_ahead_ = false;                ///< the decoder has packets of the next round
  std::optional<DeviceImage> held_;      ///< the first of the next round
  std::array<std::int64_t, 64> keys_{};  ///< ring of the latest key frames' packets
  std::int64_t next_key_ = 0;
  std::int64_t damage_ = -1;  ///< the last damaged packet
};

}  // namespace

std::unique_ptr<FrameReader> open_elementary(const std::string& path, const ReaderOptions& options) {
  return std::make_unique<ElementaryReader>(path, elementary_codec(path).value_or(ExactCodec::kH264), options);
}

}  // namespace saccade::nvdec
