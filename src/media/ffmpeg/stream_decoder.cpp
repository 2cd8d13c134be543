#include "ffmpeg/stream_decoder.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "media/file_kind.hpp"

namespace saccade {
namespace {

/// A stream without marked key frames is decoded after that many packets: its decoder finds where to begin.
constexpr int kMostUnmarked = 300;

bool is_broken(const AVFrame& image) {
  return (image.flags & AV_FRAME_FLAG_CORRUPT) != 0 || image.decode_error_flags != 0;
}

AVDiscard discard_of(network::Frames frames) {
  switch (frames) {
    case network::Frames::kReference: return AVDISCARD_NONREF;
    case network::Frames::kKey: return AVDISCARD_NONKEY;
    case network::Frames::kAll: break;
  }
  return AVDISCARD_DEFAULT;
}

}  // namespace

void StreamDecoder::feed(StreamPacket packet, bool follows_gap) {
  if (follows_gap || packet.is_suspect || packet.format != format_) {
    is_due_to_drain_ = true;
    waits_for_key_ = true;
  }
  pending_ = std::move(packet);
}

StreamDecoder::Step StreamDecoder::step(AVFrame& image) {
  while (true) {
    if (is_open())
      if (const auto step = receive(image)) return *step;
    if (std::exchange(is_due_to_drain_, false)) {
      drain();
      continue;
    }
    if (!pending_) return Step::kEmpty;
    if (const auto step = send()) return *step;
  }
}

/// What the decoder has; nothing if it needs a packet.
std::optional<StreamDecoder::Step> StreamDecoder::receive(AVFrame& image) {
  if (!is_fed_) return std::nullopt;
  forget_message();
  const int error = receive_image(image);
  if (error == AVERROR(EAGAIN)) return std::nullopt;
  if (error == AVERROR_EOF) return flush();
  if (error < 0) return refuse(reason_of(error));
  if (!is_tainted_ && !is_broken(image) && (gpu_ != nullptr || !watch_.is_incomplete(image))) {
    refused_ = 0;
    return Step::kImage;
  }
  av_frame_unref(&image);
  return refuse("its data is incomplete");
}

/// Sends the decoder the packet. A step if that is not decoded.
std::optional<StreamDecoder::Step> StreamDecoder::send() {
  const StreamPacket packet = std::move(*pending_);
  pending_.reset();
  if (packet.is_suspect) return corrupt("packets of the network were lost");
  if (!may_begin(*packet.data)) return corrupt("it refers to frames that are missing; no key frame has come since");
  if (packet.format != format_) {
    format_ = packet.format;
    is_gpu_usable_ = true;
    open();
  }
  if (!is_open()) return refuse(problem_);
  if (is_tainted_)  // with frames before this key frame, which are damaged
    if (const auto step = flush()) return step;
  const std::int64_t number = packets_++;
  origins_[static_cast<std::size_t>(number) % origins_.size()] = {packet.format, packet.arrival, packet.sender_offset};
  if (decoder_ != nullptr) watch_.feed(*decoder_, number);
  is_fed_ = true;
  forget_message();
  try {
    const int error = send_packet(packet.data.get(), number);
    if (error < 0) return refuse(reason_of(error));
  } catch (const Error& error) {
    return leave_gpu(error);
  }
  return std::nullopt;
}

int StreamDecoder::receive_image(AVFrame& image) {
  return gpu_ != nullptr ? gpu_->receive(image) : avcodec_receive_frame(decoder_.get(), &image);
}

int StreamDecoder::send_packet(const AVPacket* packet, std::int64_t number) {
  return gpu_ != nullptr ? gpu_->send(packet, number) : avcodec_send_packet(decoder_.get(), packet);
}

std::string StreamDecoder::reason_of(int error) const { return gpu_ != nullptr ? gpu_->problem() : reason(error); }

/// The GPU has failed: the CPU decodes from the next key frame on, if it may.
StreamDecoder::Step StreamDecoder::leave_gpu(const Error& error) {
  is_gpu_usable_ = false;
  open();
  if (is_open()) log(LogLevel::kWarning, "the CPU decodes on: {}", error.what());
  return refuse(error.what());
}

/// Whether PACKET can be decoded: not before a key frame.
bool StreamDecoder::may_begin(const AVPacket& packet) {
  if (!waits_for_key_) return true;
  const bool is_key = (packet.flags & AV_PKT_FLAG_KEY) != 0;
  without_key_ = is_key ? 0 : without_key_ + 1;
  waits_for_key_ = !is_key && without_key_ < kMostUnmarked;
  return !waits_for_key_;
}

std::string StreamDecoder::gpu_refusal(const ConnectionFormat& format, network::Frames frames, int device) {
  if (frames == network::Frames::kReference) return "the CPU decodes only reference frames, as frames=reference says";
  return GpuCodec::refusal(*format.parameters, format.orientation, device);
}

void StreamDecoder::close() {
  decoder_.reset();
  if (gpu_ != nullptr) gpu_->give_back();
  gpu_.reset();
  is_fed_ = is_tainted_ = is_draining_ = false;
}

void StreamDecoder::open() {
  close();
  if (!open_gpu() && decoding_ != Decoding::kCuda) open_decoder();
}

/// False if the GPU does not decode the format: problem().
bool StreamDecoder::open_gpu() {
  const int device = allocator_ == nullptr ? -1 : allocator_->memory().device();
  const bool is_wanted = decoding_ == Decoding::kCuda || (decoding_ == Decoding::kAuto && device >= 0);
  if (!is_wanted || !is_gpu_usable_) return false;
  problem_ = gpu_refusal(*format_, frames_, std::max(device, 0));
  if (problem_.empty()) {
    try {
      gpu_ = std::make_unique<GpuCodec>(*format_->parameters, format_->unit, true, std::max(device, 0), *allocator_);
      return true;
    } catch (const Error& error) {
      problem_ = error.what();
    }
  }
  problem_ = fmt::format("cuda:{} can't decode it: {}", std::max(device, 0), problem_);
  if (decoding_ == Decoding::kAuto) log(LogLevel::kInfo, "{}", problem_);
  return false;
}

void StreamDecoder::open_decoder() {
  const AVCodecParameters& parameters = *format_->parameters;
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  AvCodec decoder(avcodec_alloc_context3(codec));
  if (codec == nullptr || decoder == nullptr) {
    problem_ = "there is no decoder for it";
    return;
  }
  decoder->thread_count = 1;
  decoder->max_pixels = kMaxPixels;
  decoder->pkt_timebase = format_->unit;
  decoder->skip_frame = discard_of(frames_);
  watch_.attach(*decoder);
  int error = avcodec_parameters_to_context(decoder.get(), &parameters);
  if (error >= 0) error = avcodec_open2(decoder.get(), codec, nullptr);
  if (error < 0)
    problem_ = reason(error);
  else
    decoder_ = std::move(decoder);
}

/// Lets the decoder deliver what it holds.
void StreamDecoder::drain() {
  if (!is_open() || !is_fed_ || is_draining_) return;
  is_draining_ = true;
  try {
    send_packet(nullptr, packets_);
  } catch (const Error& error) {
    leave_gpu(error);
  }
}

/// The decoder holds nothing any more. A step if the GPU has failed at it.
std::optional<StreamDecoder::Step> StreamDecoder::flush() {
  try {
    if (gpu_ != nullptr) gpu_->flush();
  } catch (const Error& error) {
    return leave_gpu(error);
  }
  if (decoder_ != nullptr) {
    avcodec_flush_buffers(decoder_.get());
    watch_.attach(*decoder_);
  }
  is_fed_ = is_tainted_ = is_draining_ = false;
  return std::nullopt;
}

StreamDecoder::Step StreamDecoder::corrupt(std::string problem) {
  problem_ = std::move(problem);
  waits_for_key_ = true;
  is_tainted_ = is_fed_;
  return Step::kCorrupt;
}

StreamDecoder::Step StreamDecoder::refuse(std::string problem) {
  ++refused_;
  return corrupt(std::move(problem));
}

const StreamDecoder::Origin& StreamDecoder::origin(const AVFrame& image) const {
  return origins_[static_cast<std::size_t>(image.reordered_opaque) % origins_.size()];
}

}  // namespace saccade
