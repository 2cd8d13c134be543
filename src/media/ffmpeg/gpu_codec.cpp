#include "ffmpeg/gpu_codec.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/module.hpp"
#include "ffmpeg/pixels.hpp"

namespace saccade {
namespace {

/// A video without marked key frames is decoded after that many packets.
constexpr int kMostWithoutKey = 300;

const NvdecModule& nvdec_module() { return module<NvdecModule>("nvdec"); }

std::optional<ExactCodec> exact_codec(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_H264: return ExactCodec::kH264;
    case AV_CODEC_ID_HEVC: return ExactCodec::kHevc;
    case AV_CODEC_ID_VP8: return ExactCodec::kVp8;
    case AV_CODEC_ID_VP9: return ExactCodec::kVp9;
    default: return std::nullopt;
  }
}

DeviceVideo video_of(const AVCodecParameters& parameters, ExactCodec codec) {
  DeviceVideo video{.codec = codec, .width = parameters.width, .height = parameters.height};
  const auto format = static_cast<AVPixelFormat>(parameters.format);
  if (const AVPixFmtDescriptor* known = av_pix_fmt_desc_get(format); known != nullptr) {
    video.bits = known->comp[0].depth;
    video.is_420 = known->nb_components >= 3 && known->log2_chroma_w == 1 && known->log2_chroma_h == 1;
  }
  const AvFrame colors(av_frame_alloc());
  if (colors == nullptr) throw std::bad_alloc();
  colors->format = parameters.format;
  colors->colorspace = parameters.color_space;
  colors->color_range = parameters.color_range;
  video.matrix = matrix_of(*colors);
  video.range = range_of(*colors, PixelFormat::kNv12);
  return video;
}

const char* filter_of(ExactCodec codec) {
  if (codec == ExactCodec::kH264) return "h264_mp4toannexb";
  return codec == ExactCodec::kHevc ? "hevc_mp4toannexb" : nullptr;
}

}  // namespace

std::string GpuCodec::refusal(const AVCodecParameters& parameters, int orientation, int device) {
  const auto codec = exact_codec(parameters.codec_id);
  if (!codec) return fmt::format("{} is decoded by the CPU", avcodec_get_name(parameters.codec_id));
  if (orientation != 1) return "a rotated video is decoded by the CPU, which turns its images";
  if (parameters.field_order != AV_FIELD_UNKNOWN && parameters.field_order != AV_FIELD_PROGRESSIVE)
    return "an interlaced video is decoded by the CPU";
  try {
    return nvdec_module().refusal(video_of(parameters, *codec), device);
  } catch (const Error& error) {
    return error.what();
  }
}

GpuCodec::GpuCodec(const AVCodecParameters& parameters, AVRational unit, bool is_live, int device,
                   FrameAllocator& frames)
    : unit_(unit) {
  if (filtered_ == nullptr) throw std::bad_alloc();
  const ExactCodec codec = exact_codec(parameters.codec_id).value();
  DeviceVideo video = video_of(parameters, codec);
  video.is_live = is_live;
  if (const char* name = filter_of(codec)) {
    open_filter(parameters, name);
    const AVCodecParameters& made = *filter_->par_out;
    video.header.assign(made.extradata, made.extradata + made.extradata_size);
  }
  decoder_ = nvdec_module().open(std::move(video), device, frames);
}

void GpuCodec::open_filter(const AVCodecParameters& parameters, const char* name) {
  AVBSFContext* made = nullptr;
  const AVBitStreamFilter* filter = av_bsf_get_by_name(name);
  int error = filter == nullptr ? AVERROR_BSF_NOT_FOUND : av_bsf_alloc(filter, &made);
  filter_.reset(made);
  if (error >= 0) error = avcodec_parameters_copy(made->par_in, &parameters);
  if (error >= 0) made->time_base_in = unit_;
  if (error >= 0) error = av_bsf_init(made);
  if (error < 0) fail(ErrorCode::kUnsupported, "its packets can't be converted to Annex B ({})", reason(error));
}

int GpuCodec::send(const AVPacket* packet, std::int64_t number) {
  if (packet == nullptr) {
    has_ended_ = true;
    decoder_->finish();
    return 0;
  }
  if (!may_begin(*packet)) return 0;
  stamps_[static_cast<std::size_t>(number) % stamps_.size()] = {packet->pts, packet->dts, packet->duration,
                                                                (packet->flags & AV_PKT_FLAG_DISCARD) != 0};
  return filter_ == nullptr ? send_bytes(*packet, number) : send_filtered(*packet, number);
}

/// As FFmpeg's decoders, which show nothing before a key frame, or where none is marked.
bool GpuCodec::may_begin(const AVPacket& packet) {
  if (!waits_for_key_) return true;
  waits_for_key_ = (packet.flags & AV_PKT_FLAG_KEY) == 0 && ++without_key_ < kMostWithoutKey;
  return !waits_for_key_;
}

int GpuCodec::send_filtered(const AVPacket& packet, std::int64_t number) {
  int error = av_packet_ref(filtered_.get(), &packet);
  if (error >= 0) error = av_bsf_send_packet(filter_.get(), filtered_.get());
  if (error >= 0) error = av_bsf_receive_packet(filter_.get(), filtered_.get());
  if (error < 0) {
    av_packet_unref(filtered_.get());
    problem_ = reason(error);
    return error;
  }
  const int sent = send_bytes(*filtered_, number);
  av_packet_unref(filtered_.get());
  return sent;
}

int GpuCodec::send_bytes(const AVPacket& packet, std::int64_t number) {
  const std::span<const std::uint8_t> bytes(packet.data, static_cast<std::size_t>(packet.size));
  if (std::exchange(is_first_, false))
    may_repeat_ = (packet.flags & AV_PKT_FLAG_KEY) != 0 && decoder_->may_follow_all(bytes);
  problem_ = decoder_->send(bytes, number);
  return problem_.empty() ? 0 : AVERROR_INVALIDDATA;
}

int GpuCodec::receive(AVFrame& image) {
  const auto stamp_of = [this](const DeviceImage& shown) -> const Stamp& {
    return stamps_[static_cast<std::size_t>(shown.packet) % stamps_.size()];
  };
  do {
    shown_ = decoder_->next();
    if (!shown_) return has_ended_ ? AVERROR_EOF : AVERROR(EAGAIN);
  } while (stamp_of(*shown_).is_discarded);
  const Stamp& stamp = stamp_of(*shown_);
  av_frame_unref(&image);
  image.format = AV_PIX_FMT_CUDA;
  image.width = shown_->view.width;
  image.height = shown_->view.height;
  image.reordered_opaque = shown_->packet;
  image.pts = stamp.presented;
  image.pkt_dts = stamp.decoded;
  image.best_effort_timestamp = stamp.presented != AV_NOPTS_VALUE ? stamp.presented : stamp.decoded;
  image.pkt_duration = stamp.duration;
  if (shown_->is_damaged) image.flags |= AV_FRAME_FLAG_CORRUPT;
  return 0;
}

DeviceImage GpuCodec::take_image() {
  DeviceImage taken = std::move(shown_.value());
  shown_.reset();
  return taken;
}

void GpuCodec::flush() {
  has_ended_ = false;
  is_first_ = true;
  waits_for_key_ = true;
  without_key_ = 0;
  shown_.reset();
  if (filter_ != nullptr) av_bsf_flush(filter_.get());
  decoder_->flush();
}

}  // namespace saccade
