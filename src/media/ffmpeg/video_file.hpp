#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/output_file.hpp"
#include "ffmpeg/handles.hpp"
#include "ffmpeg/mp4_index.hpp"
#include "ffmpeg/video_output.hpp"

namespace saccade {

/// A video file of one stream that is playable up to half a second before its end at any time, wherever the process is
/// killed. MP4 and QuickTime are written as fragments and converted to a plain file when finished; Matroska as
/// clusters. AVI has its index at its end, without which players that need it refuse the file.
class VideoFile final : public VideoOutput {
 public:
  /// Throws Error naming PATH if its extension is unknown, or if nothing can be written there (kConflict, kIo).
  VideoFile(const std::string& path, OutputPath::Claim claim);
  ~VideoFile() override;
  VideoFile(const VideoFile&) = delete;
  VideoFile& operator=(const VideoFile&) = delete;

  bool is_avi() const override;
  bool needs_global_header() const override { return (output_->oformat->flags & AVFMT_GLOBALHEADER) != 0; }
  /// Writes the file's header. Packets are ENCODER's. All of these throw Error (kIo).
  void begin(const AVCodecContext& encoder, AVRational rate) override;
  void write(AVPacket& packet) override;
  void finish() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct CloseOutput {
    void operator()(AVFormatContext* context) const noexcept;
  };

  bool is_mp4() const;
  bool is_due(std::int64_t timestamp) const;
  void flush();
  void index_fragment();
  void make_ordinary();
  std::int64_t find_box(std::int64_t from, const char* type) const;
  void put(std::string_view bytes, std::int64_t place);
  int check(int error) const;
  [[noreturn]] void refuse(int system_error) const;

  std::string path_;
  OutputPath place_;
  int file_ = -1;  ///< the same file, to read and patch the muxer's output; -1: not a regular file
  std::unique_ptr<AVFormatContext, CloseOutput> output_;
  AVRational encoder_unit_{};
  std::unique_ptr<Mp4Index> index_;  ///< null: not needed
  std::vector<AvPacket> fragment_;   ///< packets that are not in the index yet
  std::int64_t fragment_place_ = 0;
  bool is_empty_ = true;  ///< nothing was written since the last flush
  std::int64_t first_timestamp_ = 0;
  Clock::time_point last_flush_;
};

}  // namespace saccade
