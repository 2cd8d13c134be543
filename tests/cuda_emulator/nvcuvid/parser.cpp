#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "nvcuvid/nvcuvid_state.hpp"

// The parser: one packet is one image. It calls back in NVIDIA's order: a new sequence after all images of the last
// one, an image to decode before those to display, of which as many wait as the client allows.
namespace saccade::emulator {
namespace {

/// More images than any sequence here refers to or reorders.
constexpr int kSurfaces = 20;

[[noreturn]] void die(const char* why) {
  std::fprintf(stderr, "emulator: nvcuvid: %s\n", why);
  std::fflush(stderr);
  std::abort();
}

AVCodecID codec_id(cudaVideoCodec codec) {
  switch (codec) {
    case cudaVideoCodec_H264: return AV_CODEC_ID_H264;
    case cudaVideoCodec_HEVC: return AV_CODEC_ID_HEVC;
    case cudaVideoCodec_VP8: return AV_CODEC_ID_VP8;
    case cudaVideoCodec_VP9: return AV_CODEC_ID_VP9;
    default: return AV_CODEC_ID_NONE;
  }
}

/// What the NAL units of a packet in Annex B format are.
struct Units {
  std::vector<std::uint8_t> sequence;  ///< the sequence parameter set
  bool has_slice = false;
};

Units units_of(std::span<const std::uint8_t> data, cudaVideoCodec codec) {
  Units units;
  if (codec != cudaVideoCodec_H264 && codec != cudaVideoCodec_HEVC) return {.sequence = {}, .has_slice = true};
  constexpr std::array<std::uint8_t, 3> kStart = {0, 0, 1};
  auto at = std::search(data.begin(), data.end(), kStart.begin(), kStart.end());
  while (data.end() - at > 4) {
    const auto next = std::search(at + 3, data.end(), kStart.begin(), kStart.end());
    const bool is_h264 = codec == cudaVideoCodec_H264;
    const int type = is_h264 ? at[3] & 0x1F : at[3] >> 1 & 0x3F;
    if (type == (is_h264 ? 7 : 33)) {
      units.sequence.assign(at + 3, next);
      while (!units.sequence.empty() && units.sequence.back() == 0) units.sequence.pop_back();
    }
    units.has_slice = units.has_slice || (is_h264 ? type == 1 || type == 5 : type < 32);
    at = next;
  }
  return units;
}

bool is_full_range(const AVCodecContext& codec) {
  return codec.color_range == AVCOL_RANGE_JPEG || codec.pix_fmt == AV_PIX_FMT_YUVJ420P;
}

}  // namespace

Parser::Parser(const CUVIDPARSERPARAMS& parameters) : parameters_(parameters) {
  const AVCodec* codec = avcodec_find_decoder(codec_id(parameters.CodecType));
  codec_ = avcodec_alloc_context3(codec);
  codec_->thread_count = 1;
  codec_->apply_cropping = 0;
  if (codec == nullptr || avcodec_open2(codec_, codec, nullptr) < 0) die("FFmpeg has no decoder");
}

Parser::~Parser() { avcodec_free_context(&codec_); }

CUresult Parser::parse(const CUVIDSOURCEDATAPACKET& packet) {
  if (packet.payload_size > 0 && !take(packet)) return CUDA_ERROR_UNKNOWN;
  if ((packet.flags & CUVID_PKT_ENDOFSTREAM) != 0 && !drain()) return CUDA_ERROR_UNKNOWN;
  return CUDA_SUCCESS;
}

/// False if a callback has failed.
bool Parser::take(const CUVIDSOURCEDATAPACKET& packet) {
  pending_.insert(pending_.end(), packet.payload, packet.payload + packet.payload_size);
  if ((packet.flags & CUVID_PKT_ENDOFPICTURE) == 0) return true;
  const std::vector<std::uint8_t> data = std::exchange(pending_, {});
  Units units = units_of(data, parameters_.CodecType);
  if (!units.sequence.empty() && units.sequence != sequence_) {
    if (!sequence_.empty() && !drain()) return false;
    sequence_ = std::move(units.sequence);
  }
  AVPacket* av = av_packet_alloc();
  if (av_new_packet(av, static_cast<int>(data.size())) < 0) die("out of memory");
  std::memcpy(av->data, data.data(), data.size());
  av->pts = packet.timestamp;
  const int error = avcodec_send_packet(codec_, av);
  av_packet_free(&av);
  if (error < 0 || !units.has_slice) return true;  // NVIDIA's parser does not say so either
  std::vector<FrameOwner> frames = receive();
  if (codec_->width == 0) return true;
  if (!begin_sequence(frames.empty() ? nullptr : frames.front().get())) return false;
  return decode(packet.timestamp) && show(std::move(frames));
}

std::vector<FrameOwner> Parser::receive() {
  std::vector<FrameOwner> frames;
  for (FrameOwner frame(av_frame_alloc()); avcodec_receive_frame(codec_, frame.get()) == 0;
       frame.reset(av_frame_alloc()))
    frames.push_back(std::move(frame));
  return frames;
}

bool Parser::drain() {
  avcodec_send_packet(codec_, nullptr);
  const bool is_shown = show(receive()) && show_until(0);
  avcodec_flush_buffers(codec_);
  decoded_.clear();
  return is_shown;
}

/// Calls back if the codec has another format than before.
bool Parser::begin_sequence(const AVFrame* first) {
  CUVIDEOFORMAT format{};
  format.codec = parameters_.CodecType;
  format.frame_rate = {static_cast<unsigned>(codec_->framerate.num), static_cast<unsigned>(codec_->framerate.den)};
  format.progressive_sequence = 1;
  const bool is_deep = codec_->pix_fmt == AV_PIX_FMT_YUV420P10;
  format.bit_depth_luma_minus8 = format.bit_depth_chroma_minus8 = is_deep ? 2 : 0;
  format.min_num_decode_surfaces = kSurfaces;
  format.coded_width = static_cast<unsigned>(codec_->coded_width);
  format.coded_height = static_cast<unsigned>(codec_->coded_height);
  if (first != nullptr)
    format.display_area = {static_cast<int>(first->crop_left), static_cast<int>(first->crop_top),
                           first->width - static_cast<int>(first->crop_right),
                           first->height - static_cast<int>(first->crop_bottom)};
  else if (format_.coded_width == format.coded_width && format_.coded_height == format.coded_height)
    format.display_area = format_.display_area;
  else
    format.display_area = {0, 0, codec_->width, codec_->height};
  const bool is_420 = is_deep || codec_->pix_fmt == AV_PIX_FMT_YUV420P || codec_->pix_fmt == AV_PIX_FMT_YUVJ420P;
  format.chroma_format = is_420 ? cudaVideoChromaFormat_420 : cudaVideoChromaFormat_Monochrome;
  format.video_signal_description.video_full_range_flag = is_full_range(*codec_) ? 1 : 0;
  format.video_signal_description.matrix_coefficients = static_cast<unsigned char>(codec_->colorspace);
  if (surfaces_ > 0 && std::memcmp(&format, &format_, sizeof format) == 0) return true;
  if (!show_until(0)) return false;
  const int count = parameters_.pfnSequenceCallback(parameters_.pUserData, &format);
  if (count == 0) return false;
  format_ = format;
  surfaces_ = count > 1 ? count : static_cast<int>(parameters_.ulMaxNumDecodeSurfaces);
  return true;
}

bool Parser::is_in_use(int index) const {
  const auto is_here = [index](const Waiting& each) { return each.index == index; };
  return std::ranges::any_of(shown_, is_here) ||
         std::ranges::any_of(decoded_, [&](const auto& each) { return is_here(each.second); });
}

bool Parser::decode(long long timestamp) {
  // Leading images that FFmpeg skips are never shown.
  std::erase_if(decoded_, [&](const auto& each) { return each.first < timestamp - kSurfaces; });
  for (int tried = 0; is_in_use(next_index_) && tried < surfaces_; ++tried) next_index_ = (next_index_ + 1) % surfaces_;
  if (is_in_use(next_index_)) die("there are too few decode surfaces");
  Waiting made{.timestamp = timestamp, .index = next_index_, .image = std::make_shared<Image>()};
  next_index_ = (next_index_ + 1) % surfaces_;
  auto parameters = std::make_unique<CUVIDPICPARAMS>();
  parameters->CurrPicIdx = made.index;
  // It holds what decodes the image: the decoder finds it there.
  parameters->pBitstreamData = reinterpret_cast<const unsigned char*>(&made.image);
  if (parameters_.pfnDecodePicture(parameters_.pUserData, parameters.get()) == 0) return false;
  decoded_[timestamp] = std::move(made);
  return true;
}

bool Parser::show(std::vector<FrameOwner> frames) {
  for (FrameOwner& frame : frames) {
    const auto found = decoded_.find(frame->pts);
    if (found == decoded_.end()) die("an image was not decoded");
    found->second.image->frame = std::move(frame);
    shown_.push_back(std::move(found->second));
    decoded_.erase(found);
    if (!show_until(parameters_.ulMaxDisplayDelay)) return false;
  }
  return true;
}

/// Displays images until LEFT of them wait.
bool Parser::show_until(std::size_t left) {
  while (shown_.size() > left) {
    const Waiting first = std::move(shown_.front());
    shown_.pop_front();
    CUVIDPARSERDISPINFO info{.picture_index = first.index,
                             .progressive_frame = first.image->frame->interlaced_frame == 0,
                             .top_field_first = first.image->frame->top_field_first,
                             .repeat_first_field = 0,
                             .timestamp = first.timestamp};
    if (parameters_.pfnDisplayPicture(parameters_.pUserData, &info) == 0) return false;
  }
  return true;
}

}  // namespace saccade::emulator
