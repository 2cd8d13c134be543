#include "ffmpeg/decoder.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "media/file_kind.hpp"

namespace saccade {
namespace {

/// More packets than a decoder buffers before it outputs an image, for threads and reordering together.
constexpr std::int64_t kMostDelay = 64;
/// Limit of images decoded again before the last delivered one must have come.
constexpr std::int64_t kMostRepeated = 1024;

/// MPEG-4's decoder learns from each frame how its encoder pads, which affects what counts as damaged; its threads pass
/// on that state at random. One thread is as fast as two.
int useful_threads(const AVCodec& codec, int threads) {
  return codec.id == AV_CODEC_ID_MPEG4 ? 1 : std::max(1, threads);
}

bool is_damaged(const AVFrame& image) {
  return (image.flags & AV_FRAME_FLAG_CORRUPT) != 0 || image.decode_error_flags != 0;
}

}  // namespace

VideoDecoder::VideoDecoder(std::string path, const ReaderOptions& options, const AVIOInterruptCB& interrupt)
    : path_(std::move(path)),
      threads_(options.decode_threads),
      decoding_(options.decode),
      at_(options.at),
      interrupt_(interrupt) {
  open(threads_);
  if (packet_ == nullptr || held_ == nullptr) fail(ErrorCode::kIo, "'{}': out of memory", path_);
  if (decoding_ == Decoding::kCuda) check_decoding(0);
}

void VideoDecoder::check_decoding(int device) const {
  const AVCodecParameters& parameters = *input_.stream->codecpar;
  std::string why = GpuCodec::refusal(parameters, orientation_of(*input_.stream), device);
  // FFmpeg's decoders derive them.
  if (why.empty() && parameters.video_delay > 0 && std::string_view(input_.file->iformat->name) == "avi")
    why = "an AVI file has no presentation times for its B-frames, which the CPU finds";
  if (!why.empty())
    fail(ErrorCode::kUnsupported, "'{}' can't be decoded by cuda:{}: {}; --decode auto leaves it to the CPU", path_,
         device, why);
}

void VideoDecoder::choose(FrameAllocator& frames) {
  if (std::exchange(has_chosen_, true) || decoding_ == Decoding::kCpu) return;
  const int device = frames.memory().device();
  if (device < 0 && decoding_ == Decoding::kAuto) return;
  try {
    check_decoding(std::max(device, 0));
    auto made = std::make_unique<GpuCodec>(*input_.stream->codecpar, input_.stream->time_base, false,
                                           std::max(device, 0), frames);
    const std::scoped_lock lock(gpu_mutex_);
    gpu_ = std::move(made);
    decoder_.reset();
    log(LogLevel::kInfo, "{}: cuda:{} decodes it", path_, std::max(device, 0));
  } catch (const Error& error) {
    if (decoding_ == Decoding::kCuda) throw;
    log(LogLevel::kInfo, "{}", error.what());
  }
}

void VideoDecoder::cancel() noexcept {
  const std::scoped_lock lock(gpu_mutex_);
  if (gpu_ != nullptr) gpu_->cancel();
}

void VideoDecoder::give_back() noexcept {
  if (gpu_ != nullptr && !is_ahead_) gpu_->give_back();
}

void VideoDecoder::leave_gpu() {
  if (gpu_ == nullptr) return;
  packets_ = packets();
  is_ahead_ = is_held_ = false;
  gpu_->give_back();
  const std::scoped_lock lock(gpu_mutex_);
  gpu_.reset();
}

/// The GPU has failed. Throws ERROR if no other decoder may go on.
int VideoDecoder::go_on_without_gpu(const Error& error) {
  if (decoding_ == Decoding::kCuda) throw error.in(path_);
  log(LogLevel::kWarning, "{}: the CPU decodes on: {}", path_, error.what());
  leave_gpu();
  if (delivered_ > 0) return AVERROR_INVALIDDATA;
  packets_ = 0;
  open(threads_);
  return 0;
}

void VideoDecoder::open(int threads) {
  decoder_.reset();
  input_ = open_video_input(path_, interrupt_);
  const AVCodecParameters& parameters = *input_.stream->codecpar;
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  if (parameters.codec_id == AV_CODEC_ID_NONE)
    fail(ErrorCode::kUnsupported, "'{}': its video is in a codec that this FFmpeg does not know; convert it to H.264",
         path_);
  if (codec == nullptr)
    fail(ErrorCode::kUnsupported, "'{}': this FFmpeg has no decoder for {}", path_,
         avcodec_get_name(parameters.codec_id));
  if (parameters.width <= 0 || parameters.height <= 0)
    fail(ErrorCode::kInvalidFile, "'{}' is damaged: the size of its images is unknown", path_);
  decoder_.reset(avcodec_alloc_context3(codec));
  if (decoder_ == nullptr) fail(ErrorCode::kIo, "'{}': out of memory", path_);
  decoder_->thread_count = useful_threads(*codec, threads);
  decoder_->max_pixels = kMaxPixels;
  decoder_->pkt_timebase = input_.stream->time_base;
  watch_.attach(*decoder_);
  int error = avcodec_parameters_to_context(decoder_.get(), &parameters);
  if (error >= 0) error = avcodec_open2(decoder_.get(), codec, nullptr);
  if (error < 0) fail(ErrorCode::kInvalidFile, "'{}' can't be decoded: {}", path_, reason(error));
}

int VideoDecoder::next(AVFrame& image) {
  while (true) {
    const int error = step(image);
    if (error == AVERROR_EXIT || std::exchange(is_skipped_, false)) return error;
    if (error == 0 && watch_.is_incomplete(image)) image.flags |= AV_FRAME_FLAG_CORRUPT;
    if (is_careful_) {
      if (error == AVERROR_EOF && repeated_ >= 0 && first_fed_ > 0) {
        decode_anew(0);  // the last delivered image did not come again
      } else if (error == AVERROR_EOF || is_new(image)) {
        return error;
      }
      continue;
    }
    // Every thread whose packet precedes what is output now has reported its errors.
    if ((error < 0 && error != AVERROR_EOF) || watch_.first_complaint() != DecoderWatch::kNone ||
        (error == 0 && is_damaged(image))) {
      av_frame_unref(&image);
      if (decoder_ != nullptr) avcodec_flush_buffers(decoder_.get());  // waits for the decoder's threads
      decode_anew(restart_point(std::min(watch_.first_complaint(), packets() - 1)));
      continue;
    }
    if (error == 0) {
      ++delivered_;
      last_ = {image.reordered_opaque, image.best_effort_timestamp};
    }
    return error;
  }
}

/// The next round's first packet follows this round's last one: between them the GPU has as much to decode as ever.
bool VideoDecoder::go_ahead() {
  const bool may_go = is_looped_ && !is_ahead_ && gpu_ != nullptr && gpu_->may_repeat() && skipped_.empty();
  if (!may_go || !seek_first()) return false;
  next_round_ = round_ + packets_;
  packets_ = 0;
  is_ahead_ = true;
  return true;
}

bool VideoDecoder::rewind() {
  if (!std::exchange(is_ahead_, false)) {
    if (!begin_again()) return false;
    is_read_ = true;
    packets_ = round_ = 0;
  } else {
    round_ = next_round_;
  }
  delivered_ = 0;
  last_ = {};
  keys_ = {};
  next_key_ = 0;
  return true;
}

/// After the end: the decoder has no packet, and the first one is read.
bool VideoDecoder::begin_again() {
  if (is_careful_ || !skipped_.empty() || packets_ == 0 || !seek_first()) return false;
  if (gpu_ != nullptr) {
    try {
      gpu_->flush();
    } catch (const Error& error) {
      log(LogLevel::kWarning, "{}: it is opened again: {}", path_, error.what());
      return false;
    }
  } else {
    avcodec_flush_buffers(decoder_.get());
    watch_.attach(*decoder_);
  }
  return true;
}

/// Reads the first packet again; false if the demuxer finds only another one.
bool VideoDecoder::seek_first() {
  // Demuxers have an index of decoding times; Matroska's is one of presentation times.
  const std::int64_t time = first_decoded_ == AV_NOPTS_VALUE ? first_.presented : first_decoded_;
  if (time == AV_NOPTS_VALUE) return false;
  AVFormatContext* const file = input_.file.get();
  if (av_seek_frame(file, input_.stream->index, time, AVSEEK_FLAG_BACKWARD) < 0) return false;
  while (av_read_frame(file, packet_.get()) == 0) {
    const bool is_ours = packet_->stream_index == input_.stream->index;
    if (is_ours && place() == first_) return true;
    av_packet_unref(packet_.get());
    if (is_ours) return false;
  }
  return false;
}

/// One image or one error; AVERROR_EXIT if reading was interrupted.
int VideoDecoder::step(AVFrame& image) {
  forget_message();
  while (interrupt_.callback(interrupt_.opaque) == 0) {
    int error = receive(image);
    if (error == 0 || error == AVERROR_EOF) return error;
    if (error == AVERROR(EAGAIN)) error = feed();
    if (error >= 0) continue;
    problem_ = gpu_ != nullptr ? gpu_->problem() : reason(error);
    return error;
  }
  return AVERROR_EXIT;
}

int VideoDecoder::receive(AVFrame& image) {
  return gpu_ != nullptr ? receive_from_gpu(image) : avcodec_receive_frame(decoder_.get(), &image);
}

/// This round ends before the first image of the next one, which is held back.
int VideoDecoder::receive_from_gpu(AVFrame& image) {
  if (is_held_) {
    av_frame_move_ref(&image, held_.get());
  } else if (const int error = gpu_->receive(image); error < 0) {
    return error;
  }
  is_held_ = is_ahead_ && image.reordered_opaque >= next_round_;
  if (is_held_) {
    av_frame_move_ref(held_.get(), &image);
    return AVERROR_EOF;
  }
  image.reordered_opaque -= round_;
  return 0;
}

/// Sends the decoder one packet, or the end of the stream. Negative: the packet was rejected.
int VideoDecoder::feed() {
  while (interrupt_.callback(interrupt_.opaque) == 0) {
    int error = std::exchange(is_read_, false) ? 0 : av_read_frame(input_.file.get(), packet_.get());
    if (error == AVERROR_EOF && go_ahead()) error = 0;
    if (error < 0) {
      if (error != AVERROR_EOF) read_problem_ = reason(error);
      return send_packet(nullptr, packets_);
    }
    const bool is_ours = packet_->stream_index == input_.stream->index;
    const std::int64_t number = packets_;
    if (is_ours) {
      note_key(*packet_);
      if (at_ != nullptr) *at_ = number;
      if (packets_++ == 0) {
        first_ = place();
        first_decoded_ = packet_->dts;
      }
    }
    const bool is_wanted = is_ours && number >= first_fed_;
    if (is_wanted && decoder_ != nullptr) watch_.feed(*decoder_, number);
    const int sent = is_wanted ? send(number) : 0;
    av_packet_unref(packet_.get());
    if (is_wanted) return sent;
  }
  return 0;
}

int VideoDecoder::send(std::int64_t number) {
  if (const auto found = skipped_.find(number); found != skipped_.end()) {
    // Reported once, also if the packets around it are decoded again.
    is_skipped_ = !std::exchange(found->second, true);
    return is_skipped_ ? AVERROR_INVALIDDATA : 0;
  }
  return send_packet(packet_.get(), number);
}

/// A null PACKET ends the stream.
int VideoDecoder::send_packet(const AVPacket* packet, std::int64_t number) {
  if (gpu_ == nullptr) return avcodec_send_packet(decoder_.get(), packet);
  try {
    return gpu_->send(packet, (is_ahead_ ? next_round_ : round_) + number);
  } catch (const Error& error) {
    return go_on_without_gpu(error);
  }
}

void VideoDecoder::note_key(const AVPacket& packet) {
  const std::int64_t latest = keys_[(next_key_ + keys_.size() - 1) % keys_.size()];
  if (is_careful_ || is_ahead_ || (packet.flags & AV_PKT_FLAG_KEY) == 0 || packets_ < latest + kMostDelay) return;
  keys_[next_key_] = packets_;
  next_key_ = (next_key_ + 1) % keys_.size();
}

/// The latest keyframe for which all preceding images, and the references that it shares with them, precede the
/// COMPLAINT.
std::int64_t VideoDecoder::restart_point(std::int64_t complaint) const {
  std::int64_t point = 0;
  if (delivered_ == 0) return point;
  for (const std::int64_t key : keys_)
    if (key + 2 * kMostDelay <= complaint) point = std::max(point, key);
  return point;
}

void VideoDecoder::decode_anew(std::int64_t from) {
  leave_gpu();
  is_careful_ = true;
  first_fed_ = from;
  repeated_ = delivered_ > 0 ? 0 : -1;
  packets_ = 0;
  read_problem_.clear();
  open(1);
}

/// Whether IMAGE, or the error in its place, follows everything delivered before decoding was restarted.
bool VideoDecoder::is_new(const AVFrame& image) {
  if (repeated_ < 0) return true;
  if (image.buf[0] == nullptr) return false;  // an error: it was reported before
  ++repeated_;
  const Identity identity = {image.reordered_opaque, image.best_effort_timestamp};
  const bool was_last = first_fed_ == 0 ? repeated_ == delivered_ : identity == last_ && !is_damaged(image);
  if (was_last)
    repeated_ = -1;
  else if (first_fed_ > 0 && packets_ > last_.packet + kMostRepeated)
    decode_anew(0);
  return false;
}

}  // namespace saccade
