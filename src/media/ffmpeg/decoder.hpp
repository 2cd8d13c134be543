#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/outcome.hpp"
#include "ffmpeg/gpu_codec.hpp"
#include "ffmpeg/input.hpp"
#include "ffmpeg/watch.hpp"
#include "media/frame_reader.hpp"

namespace saccade {

/// Images of a video file in presentation order. The result for a damaged file depends on the file alone: FFmpeg's
/// threads, whose damage flags are a race, decode until one of them reports an error. Then a single thread decodes
/// again from a keyframe well before the packet in question, and images that were delivered already are skipped. That
/// is also how the CPU goes on where a GPU has reported an error.
class VideoDecoder {
 public:
  /// Throws Error naming the file, also if ReaderOptions::decode wants a GPU that can't decode it. INTERRUPT cancels a
  /// blocking read.
  VideoDecoder(std::string path, const ReaderOptions& options, const AVIOInterruptCB& interrupt);

  /// Before the first image: chooses what decodes, by the memory of FRAMES, whose limit a GPU's buffers count against.
  /// Throws Error naming the file if ReaderOptions::decode does not allow what is left.
  void choose(FrameAllocator& frames);
  /// Ends a next() that waits for a buffer, once INTERRUPT says so. Any thread.
  void cancel() noexcept;
  /// Until the next image, nothing counts against the limit of frames.
  void give_back() noexcept;

  const VideoInput& input() const { return input_; }
  /// Number of video packets of this round read so far.
  std::int64_t packets() const { return is_ahead_ ? next_round_ - round_ : packets_; }

  /// The packet NUMBER is damaged: it is not decoded. Before the first image.
  void skip(std::int64_t number) { skipped_.emplace(number, false); }
  /// rewind() will follow the end: a GPU gets the first packets again behind the last ones.
  void expect_rewind() { is_looped_ = true; }
  /// Begins again with the first packet, after the end. False if the file must be opened again for that: its demuxer
  /// does not find this packet again, or a packet is damaged.
  bool rewind();
  /// The next image; AVERROR_EOF at the end, AVERROR_EXIT if reading was interrupted, any other error for a packet that
  /// could not be decoded: later images may follow. Throws Error if the file cannot be opened again.
  int next(AVFrame& image);
  /// The pixels of an image of next() that a GPU has decoded: is_device_image().
  DeviceImage take_device_image() { return gpu_->take_image(); }
  /// The error of a packet, or of the file if reading it failed before its end (else empty).
  const std::string& problem() const { return problem_; }
  const std::string& read_problem() const { return read_problem_; }

 private:
  /// Identifies an image within its video.
  struct Identity {
    std::int64_t packet = 0;
    std::int64_t timestamp = 0;
    bool operator==(const Identity&) const = default;
  };

  /// Identifies a packet within its file.
  struct Place {
    std::int64_t position = -1;  ///< bytes; -1: unknown
    std::int64_t presented = 0;  ///< timestamp
    int bytes = 0;
    bool operator==(const Place&) const = default;
  };

  void open(int threads);
  void check_decoding(int device) const;
  void leave_gpu();
  bool go_ahead();
  bool begin_again();
  int go_on_without_gpu(const Error& error);
  int receive(AVFrame& image);
  int receive_from_gpu(AVFrame& image);
  Place place() const { return {packet_->pos, packet_->pts, packet_->size}; }
  bool seek_first();
  int step(AVFrame& image);
  int feed();
  int send(std::int64_t number);
  int send_packet(const AVPacket* packet, std::int64_t number);
  void note_key(const AVPacket& packet);
  void decode_anew(std::int64_t from);
  std::int64_t restart_point(std::int64_t complaint) const;
  bool is_new(const AVFrame& image);

  std::string path_;
  int threads_;                           ///< ReaderOptions::decode_threads
  Decoding decoding_;                     ///< ReaderOptions::decode
  std::atomic<std::int64_t>* at_;         ///< ReaderOptions::at
  std::map<std::int64_t, bool> skipped_;  ///< packets, and whether they have been reported
  bool is_skipped_ = false;               ///< the last error is that of one
  AVIOInterruptCB interrupt_;
  VideoInput input_;
  DecoderWatch watch_;             // outlives the decoder that it observes
  AvCodec decoder_;                ///< null while a GPU decodes
  std::mutex gpu_mutex_;           ///< of the following against cancel()
  std::unique_ptr<GpuCodec> gpu_;  ///< null: FFmpeg decodes
  bool has_chosen_ = false;
  AvPacket packet_{av_packet_alloc()};
  bool is_read_ = false;            ///< the next packet is in packet_
  Place first_;                     ///< of the first packet
  std::int64_t first_decoded_ = 0;  ///< its decoding timestamp
  std::int64_t packets_ = 0;        ///< of this round, or of the next one
  bool is_looped_ = false;          ///< expect_rewind()
  bool is_ahead_ = false;           ///< the GPU has packets of the next round
  std::int64_t round_ = 0;          ///< the number of its first packet for the GPU
  std::int64_t next_round_ = 0;     ///< likewise, while it is_ahead_
  AvFrame held_{av_frame_alloc()};  ///< the next round's first image
  bool is_held_ = false;
  std::int64_t delivered_ = 0;
  Identity last_;                       ///< of the delivered images
  std::array<std::int64_t, 8> keys_{};  ///< ring of the latest keyframes' packets
  std::size_t next_key_ = 0;
  bool is_careful_ = false;     ///< decoding with one thread, after an error
  std::int64_t first_fed_ = 0;  ///< packets before this one are not decoded again
  std::int64_t repeated_ = 0;   ///< images decoded again that were delivered before; -1: past them
  std::string problem_;
  std::string read_problem_;
};

}  // namespace saccade
