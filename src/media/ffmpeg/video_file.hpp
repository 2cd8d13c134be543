#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/output_file.hpp"
#include "ffmpeg/handles.hpp"
#include "ffmpeg/mp4_index.hpp"

namespace saccade {

/// A video file of one stream that can be played up to half a second before its end at any time, wherever the process
/// is killed: MP4 and QuickTime are written as fragments, which become an ordinary file when it is finished; Matroska
/// as clusters. AVI has its index at its end, without which players that look for it refuse it.
class VideoFile {
 public:
  /// Throws Error naming PATH where its ending is not known, (kConflict, kIo) where nothing can be written there.
  explicit VideoFile(const std::string& path);
  ~VideoFile();
  VideoFile(const VideoFile&) = delete;
  VideoFile& operator=(const VideoFile&) = delete;

  bool is_avi() const;
  bool needs_global_header() const { return (output_->oformat->flags & AVFMT_GLOBALHEADER) != 0; }
  /// Writes the file's head. Packets are ENCODER's. All of these throw Error (kIo).
  void begin(const AVCodecContext& encoder, AVRational rate);
  /// Packets in the order in which they are decoded; takes what PACKET holds.
  void write(AVPacket& packet);
  void finish();

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
  int file_ = -1;  ///< the same file, to look at what the muxer wrote and to change it; -1: no regular file
  std::unique_ptr<AVFormatContext, CloseOutput> output_;
  AVRational encoder_unit_{};
  std::unique_ptr<Mp4Index> index_;  ///< null: not needed
  std::vector<AvPacket> fragment_;   ///< what the index does not have yet
  std::int64_t fragment_place_ = 0;
  bool is_empty_ = true;  ///< nothing came since the last flush
  std::int64_t first_timestamp_ = 0;
  Clock::time_point last_flush_;
};

}  // namespace saccade
