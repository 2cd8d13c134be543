#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ffmpeg/gpu_codec.hpp"
#include "ffmpeg/receiver.hpp"
#include "ffmpeg/watch.hpp"

namespace saccade {

/// Decodes the packets of a stream that loses some of them. After a join, a loss, a gap or damage, frames are corrupt
/// up to a key frame: packets are not decoded until then, each of which is a frame. Frames that the decoder holds at a
/// gap are whole, and come first. One thread.
class StreamDecoder {
 public:
  enum class Step {
    kImage,
    kCorrupt,  ///< a frame that can't be used: problem()
    kEmpty,    ///< feed() it
  };

  /// What is known of an image.
  struct Origin {
    std::shared_ptr<const ConnectionFormat> format;
    network::Arrival arrival;
    std::optional<std::int64_t> sender_offset;  ///< as StreamPacket::sender_offset
  };

  /// One thread decodes: frames in parallel would each be late by one, and of slices in parallel, FFmpeg does not
  /// notice that some are missing.
  explicit StreamDecoder(network::Frames frames, Decoding decoding = Decoding::kCpu)
      : frames_(frames), decoding_(decoding) {}

  /// Why the GPU with the number DEVICE does not decode FRAMES of FORMAT; empty: it does.
  static std::string gpu_refusal(const ConnectionFormat& format, network::Frames frames, int device);

  /// Before each feed(), step() and finish(): the frames whose memory decides what decodes.
  void use(FrameAllocator& frames) { allocator_ = &frames; }

  /// Takes a packet. The last step() was kEmpty.
  void feed(StreamPacket packet, bool follows_gap);
  /// No packet follows: what the decoder holds comes out.
  void finish() { is_due_to_drain_ = true; }
  Step step(AVFrame& image);
  /// The pixels of the last image, if a GPU has decoded it: is_device_image().
  DeviceImage take_device_image() { return gpu_->take_image(); }
  /// Of the last image.
  const Origin& origin(const AVFrame& image) const;
  const std::string& problem() const { return problem_; }
  /// Frames that the decoder has refused since the last image.
  int refused() const { return refused_; }
  /// The number of the packet that is decoded.
  std::int64_t packets() const { return packets_; }

 private:
  std::optional<Step> receive(AVFrame& image);
  std::optional<Step> send();
  bool is_open() const { return decoder_ != nullptr || gpu_ != nullptr; }
  void open();
  bool open_gpu();
  void open_decoder();
  void close();
  int receive_image(AVFrame& image);
  int send_packet(const AVPacket* packet, std::int64_t number);
  std::string reason_of(int error) const;
  Step leave_gpu(const Error& error);
  void drain();
  std::optional<Step> flush();
  bool may_begin(const AVPacket& packet);
  Step corrupt(std::string problem);
  Step refuse(std::string problem);

  network::Frames frames_;
  Decoding decoding_;
  FrameAllocator* allocator_ = nullptr;
  std::unique_ptr<GpuCodec> gpu_;  ///< null: FFmpeg decodes
  bool is_gpu_usable_ = true;      ///< for this format
  DecoderWatch watch_;             // outlives the decoder that it observes
  AvCodec decoder_;
  std::shared_ptr<const ConnectionFormat> format_;  ///< of the decoder
  std::optional<StreamPacket> pending_;
  std::int64_t packets_ = 0;
  bool is_fed_ = false;           ///< since it was opened or flushed
  bool is_due_to_drain_ = false;  ///< before the next packet
  bool is_draining_ = false;
  bool waits_for_key_ = true;
  bool is_tainted_ = false;  ///< what it holds refers to damage
  int refused_ = 0;
  int without_key_ = 0;             ///< packets, in a row
  std::array<Origin, 64> origins_;  ///< by number of the packet, modulo the size: more than a decoder holds
  std::string problem_;
};

}  // namespace saccade
