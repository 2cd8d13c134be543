#include "ffmpeg/input.hpp"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/display.h>
}

#include <cmath>
#include <string_view>

#include "base/error.hpp"

namespace saccade {
namespace {

/// Demuxers that open other files named in this one, execute it, or render text as images: never what a user means by a
/// video file.
constexpr const char* kRefusedFormats =
    "concat,hls,applehttp,dash,imf,sdp,rtp,rtsp,vobsub,webm_dash_manifest,avisynth,vapoursynth,tty,bin,xbin,adf,idf";

struct Options {
  Options() {
    av_dict_set(&entries, "protocol_whitelist", "file", 0);
    av_dict_set(&entries, "pattern_type", "none", 0);  // a '%' in an image's name is not a pattern
  }
  ~Options() { av_dict_free(&entries); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  AVDictionary* entries = nullptr;
};

struct CloseIo {
  void operator()(AVIOContext* io) const noexcept { avio_close(io); }
};

[[noreturn]] void refuse(const std::string& path, int error) {
  fail(ErrorCode::kInvalidFile, "'{}' can't be read as an image or a video: {}", path, reason(error));
}

/// The demuxer that FFmpeg detects; refused ones are rejected before they read a byte.
const AVInputFormat* format_of(const std::string& path, const std::string& url, const AVIOInterruptCB& interrupt) {
  AVIOContext* io = nullptr;
  Options options;
  int error = avio_open2(&io, url.c_str(), AVIO_FLAG_READ, &interrupt, &options.entries);
  if (error < 0) refuse(path, error);
  const std::unique_ptr<AVIOContext, CloseIo> owner(io);
  const AVInputFormat* format = nullptr;
  error = av_probe_input_buffer2(io, &format, path.c_str(), nullptr, 0, 0);
  if (error < 0) refuse(path, error);
  if (av_match_list(format->name, kRefusedFormats, ',') > 0)
    fail(ErrorCode::kInvalidFile, "'{}' is neither an image nor a video (FFmpeg takes it for '{}')", path,
         format->name);
  return format;
}

}  // namespace

VideoInput open_video_input(const std::string& path, const AVIOInterruptCB& interrupt) {
  forget_message();
  const std::string url = "file:" + path;  // a colon in the name would be parsed as a protocol
  const AVInputFormat* format = format_of(path, url, interrupt);
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) fail(ErrorCode::kIo, "'{}': out of memory", path);
  context->interrupt_callback = interrupt;
  Options options;
  int error = avformat_open_input(&context, url.c_str(), format, &options.entries);
  if (error < 0) refuse(path, error);
  VideoInput input{AvInput(context)};
  error = avformat_find_stream_info(context, nullptr);
  if (error < 0) fail(ErrorCode::kInvalidFile, "'{}' can't be read as a video: {}", path, reason(error));
  error = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (error < 0) fail(ErrorCode::kInvalidFile, "'{}' has no video stream that can be read", path);
  input.stream = context->streams[error];
  if ((input.stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0)
    fail(ErrorCode::kInvalidFile, "'{}' has no video in it, only a cover image", path);
  // Only the video's packets are needed: the demuxer discards the others.
  for (unsigned i = 0; i < context->nb_streams; ++i)
    if (context->streams[i] != input.stream) context->streams[i]->discard = AVDISCARD_ALL;
  return input;
}

int orientation_of(const AVStream& stream) {
  std::size_t bytes = 0;
  const std::uint8_t* matrix = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
  if (matrix == nullptr || bytes < 9 * sizeof(std::int32_t)) return 1;
  const double anticlockwise = av_display_rotation_get(reinterpret_cast<const std::int32_t*>(matrix));
  if (std::isnan(anticlockwise)) return 1;
  switch ((static_cast<int>(std::lround(-anticlockwise / 90.0)) % 4 + 4) % 4) {
    case 1: return 6;
    case 2: return 3;
    case 3: return 8;
    default: return 1;
  }
}

}  // namespace saccade
