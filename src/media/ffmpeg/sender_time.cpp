#include "ffmpeg/sender_time.hpp"

#include <cstring>
#include <utility>

namespace saccade {
namespace {

/// The codecs whose RTP payloads are parts of frames that FFmpeg's parser puts together.
bool is_put_together(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_MPEG4 ||
         codec == AV_CODEC_ID_H261 || codec == AV_CODEC_ID_MPEG1VIDEO || codec == AV_CODEC_ID_MPEG2VIDEO;
}

std::optional<std::int64_t> time_with(const AVPacket& packet) {
  constexpr std::int64_t kMost = std::int64_t{1} << 52;  // microseconds: nanoseconds fit into 64 bits
  std::size_t bytes = 0;
  const std::uint8_t* data = av_packet_get_side_data(&packet, AV_PKT_DATA_PRFT, &bytes);
  if (data == nullptr || bytes < sizeof(AVProducerReferenceTime)) return std::nullopt;
  AVProducerReferenceTime time;
  std::memcpy(&time, data, sizeof time);
  if (time.wallclock < 0 || time.wallclock > kMost) return std::nullopt;
  return time.wallclock * 1000;
}

}  // namespace

void SenderTime::restart(AVCodecID codec) noexcept {
  is_next_ = is_put_together(codec);
  before_.reset();
  offset_.reset();
}

std::optional<std::int64_t> SenderTime::offset_at(const AVPacket& packet, AVRational unit) noexcept {
  std::optional<std::int64_t> time = time_with(packet);
  if (is_next_) time = std::exchange(before_, time);
  if (time && packet.pts != AV_NOPTS_VALUE) {
    const std::int64_t presented = av_rescale_q(packet.pts, unit, {1, 1'000'000'000});
    offset_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(*time) - static_cast<std::uint64_t>(presented));
  }
  return offset_;
}

}  // namespace saccade
