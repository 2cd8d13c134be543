#include "ffmpeg/video_push.hpp"

#include <array>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "ffmpeg/network_input.hpp"

namespace saccade {
namespace {

struct PushRules {
  std::string_view scheme;
  const char* muxer;
};

constexpr std::array<PushRules, 5> kPushRules = {
    {{"rtsp", "rtsp"}, {"rtsps", "rtsp"}, {"rtmp", "flv"}, {"rtmps", "flv"}, {"srt", "mpegts"}}};

const PushRules& push_rules_of(const network::StreamUri& target) {
  for (const PushRules& rules : kPushRules)
    if (rules.scheme == target.scheme) return rules;
  fail(ErrorCode::kInvalidArgument, "{}: videos are published by rtsp, rtsps, rtmp, rtmps or srt, not by {}",
       target.name, target.scheme);
}

class PushOptions {
 public:
  explicit PushOptions(const network::StreamUri& target) {
    av_dict_set(&entries_, "protocol_whitelist", allowed_protocols(target), 0);
    if (target.scheme.starts_with("rtsp"))
      av_dict_set(&entries_, "rtsp_transport", target.transport == network::Transport::kUdp ? "udp" : "tcp", 0);
    // A live stream has no end that its header could tell.
    av_dict_set(&entries_, "flvflags", "no_duration_filesize", 0);
  }
  ~PushOptions() { av_dict_free(&entries_); }
  PushOptions(const PushOptions&) = delete;
  PushOptions& operator=(const PushOptions&) = delete;

  AVDictionary** entries() { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

}  // namespace

void VideoPush::CloseOutput::operator()(AVFormatContext* context) const noexcept {
  if ((context->oformat->flags & AVFMT_NOFILE) == 0) avio_closep(&context->pb);
  avformat_free_context(context);
}

VideoPush::VideoPush(network::StreamUri target) : target_(std::move(target)) {
  const PushRules& rules = push_rules_of(target_);
  if (target_.frames != network::Frames::kAll)
    fail(ErrorCode::kInvalidArgument, "{}: the option 'frames' is one of sources", target_.name);
  static std::once_flag once;
  std::call_once(once, [] { avformat_network_init(); });
  forget_message();
  AVFormatContext* context = nullptr;
  check(avformat_alloc_output_context2(&context, nullptr, rules.muxer, target_.url.c_str()));
  output_.reset(context);
  context->interrupt_callback = interrupt_.callback();
}

VideoPush::~VideoPush() {
  // The muxer of RTSP keeps its connection until its trailer.
  if (!has_begun_) return;
  limit_time();
  av_write_trailer(output_.get());
}

void VideoPush::limit_time() { interrupt_.expire_at(Clock::now() + target_.timeout); }

void VideoPush::begin(const AVCodecContext& encoder, AVRational rate) {
  forget_message();
  AVStream* stream = avformat_new_stream(output_.get(), nullptr);
  if (stream == nullptr) throw std::bad_alloc();
  check(avcodec_parameters_from_context(stream->codecpar, &encoder));
  stream->time_base = encoder_unit_ = encoder.time_base;
  stream->avg_frame_rate = rate;
  PushOptions options(target_);
  limit_time();
  if ((output_->oformat->flags & AVFMT_NOFILE) == 0)
    check(avio_open2(&output_->pb, target_.url.c_str(), AVIO_FLAG_WRITE, &output_->interrupt_callback,
                     options.entries()));
  check(avformat_write_header(output_.get(), options.entries()));
  has_begun_ = true;
}

void VideoPush::write(AVPacket& packet) {
  packet.stream_index = 0;
  av_packet_rescale_ts(&packet, encoder_unit_, output_->streams[0]->time_base);
  limit_time();
  int error = av_write_frame(output_.get(), &packet);
  av_packet_unref(&packet);
  if (error >= 0 && output_->pb != nullptr) {
    avio_flush(output_->pb);
    error = output_->pb->error;
  }
  if (error >= 0) return;
  // What follows does not wait for a server that is away.
  interrupt_.stop();
  check(error);
}

void VideoPush::finish() {
  if (!std::exchange(has_begun_, false)) return;
  limit_time();
  check(av_write_trailer(output_.get()));
}

void VideoPush::check(int error) const {
  if (error >= 0) return;
  const std::string why =
      error == AVERROR_EXIT || interrupt_.has_expired()
          ? fmt::format("no response for {:g} s", std::chrono::duration<double>(target_.timeout).count())
          : network::redact(reason(error));
  fail(ErrorCode::kIo, "{}: it can't be published there: {}", target_.name, why);
}

}  // namespace saccade
