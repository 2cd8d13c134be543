#include "ffmpeg/network_input.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

#include "base/error.hpp"
#include "media/file_kind.hpp"

namespace saccade {
namespace {

/// What a scheme may use. FFmpeg checks the lists also where a demuxer opens a further address: a playlist, its
/// segments and keys, a redirection.
struct SchemeRules {
  std::string_view scheme;
  const char* protocols;
  const char* formats;
};

constexpr const char* kHttpProtocols = "http,https,httpproxy,tcp,tls,crypto";
/// HLS has audio and subtitles, too, which are opened before they are discarded.
constexpr const char* kHttpFormats =
    "hls,mpegts,mov,mp4,matroska,webm,flv,live_flv,mpjpeg,mjpeg,h264,hevc,aac,mp3,ac3,eac3,webvtt";
constexpr std::array<SchemeRules, 8> kRules = {{{"rtsp", "rtsp,tcp,rtp,udp", "rtsp"},
                                                {"rtsps", "rtsps,rtsp,tls,tcp,rtp,udp", "rtsp"},
                                                {"rtmp", "rtmp,tcp", "flv,live_flv"},
                                                {"rtmps", "rtmps,tls,tcp", "flv,live_flv"},
                                                {"srt", "srt", "mpegts"},
                                                {"udp", "udp", "mpegts"},
                                                {"http", kHttpProtocols, kHttpFormats},
                                                {"https", kHttpProtocols, kHttpFormats}}};

const SchemeRules& rules_of(const network::StreamUri& stream) {
  for (const SchemeRules& rules : kRules)
    if (rules.scheme == stream.scheme) return rules;
  fail(ErrorCode::kInternal, "{}: its scheme has no rules", stream.name);
}

/// How much of a stream FFmpeg may inspect: what it has read comes at once then, and must fit into the backlog. Where a
/// key frame comes later, the size is unknown at the start.
constexpr std::chrono::milliseconds kWholeInspection{800};
constexpr std::chrono::milliseconds kShortInspection{500};
/// For a stream of few frames per second to be inspected.
constexpr std::chrono::milliseconds kInspectionTime{3000};

class StreamOptions {
 public:
  StreamOptions(const network::StreamUri& stream, Inspection inspection) {
    const SchemeRules& rules = rules_of(stream);
    set("protocol_whitelist", allowed_protocols(stream));
    set("format_whitelist", rules.formats);
    const bool is_short = inspection == Inspection::kShort;
    const std::chrono::microseconds analysis = is_short ? kShortInspection : kWholeInspection;
    set("analyzeduration", std::to_string(analysis.count()).c_str());
    if (is_short) set("fpsprobesize", "0");
    if (std::string_view(rules.formats) == "rtsp") {
      const bool is_udp = stream.transport == network::Transport::kUdp;
      set("rtsp_transport", is_udp ? "udp" : "tcp");
      set("allowed_media_types", "video");
      // A datagram that has not come by then is lost. Within TCP nothing is, but servers drop packets that their
      // socket has no room for: FFmpeg looks for gaps only if it may hold a packet back.
      is_udp ? set("max_delay", "200000") : set("reorder_queue_size", "2");
    }
    // A full buffer of the system or of FFmpeg's own thread is a loss, which shows as damage, and no failure.
    set("buffer_size", "1048576");
    if (stream.scheme == "udp") set("overrun_nonfatal", "1");
  }
  ~StreamOptions() { av_dict_free(&entries_); }
  StreamOptions(const StreamOptions&) = delete;
  StreamOptions& operator=(const StreamOptions&) = delete;

  AVDictionary** entries() { return &entries_; }

 private:
  void set(const char* name, const char* value) { av_dict_set(&entries_, name, value, 0); }

  AVDictionary* entries_ = nullptr;
};

double seconds_of(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

[[noreturn]] void refuse_stream(const network::StreamUri& stream, int error, const Interrupt& interrupt,
                                std::chrono::nanoseconds patience) {
  const std::string why = network::redact(reason(error));
  if (interrupt.is_damaged())
    fail(ErrorCode::kIo, "{}: the received data is damaged or not {}: check the address and the network", stream.name,
         stream.scheme);
  if (error == AVERROR_EXIT || interrupt.has_expired())
    fail(ErrorCode::kIo,
         "{}: no data was received within {:g} s: check the address and the network, or wait longer with '#timeout='",
         stream.name, seconds_of(patience));
  switch (error) {
    case AVERROR_HTTP_UNAUTHORIZED:
    case AVERROR_HTTP_FORBIDDEN:
      fail(ErrorCode::kDevice,
           "{}: the server refuses the login ({}): write {}://USER:PASSWORD@HOST/..., with %40 for an '@' in the "
           "password",
           stream.name, why, stream.scheme);
    case AVERROR_HTTP_NOT_FOUND:
      fail(ErrorCode::kNotFound, "{}: the server has no such stream: check the path", stream.name);
    // What RTSP says to a session without media, of which only video is requested.
    case AVERROR_HTTP_BAD_REQUEST:
    case AVERROR_HTTP_OTHER_4XX:
      fail(ErrorCode::kInvalidFile, "{}: the server refuses it: there is no video in it, or the path is wrong ({})",
           stream.name, why);
    case AVERROR_PROTOCOL_NOT_FOUND:
      fail(ErrorCode::kUnsupported, "{}: this FFmpeg was built without {}, or a protocol is not allowed ({})",
           stream.name, stream.scheme, why);
    case AVERROR(EINVAL):
    case AVERROR_INVALIDDATA:
      fail(ErrorCode::kInvalidFile, "{}: the received data is not a supported stream over {} ({})", stream.name,
           stream.scheme, why);
    default:
      fail(ErrorCode::kIo, "{}: it can't be opened: {}; check that the server runs, and its address", stream.name, why);
  }
}

/// The video of INPUT, of which alone packets are received.
AVStream* only_video(const network::StreamUri& stream, AVFormatContext& input) {
  const int index = av_find_best_stream(&input, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (index < 0) fail(ErrorCode::kInvalidFile, "{}: there is no video in it: check the path", stream.name);
  for (unsigned i = 0; i < input.nb_streams; ++i)
    if (static_cast<int>(i) != index) input.streams[i]->discard = AVDISCARD_ALL;
  return input.streams[index];
}

void check_decoder(const network::StreamUri& stream, const AVCodecParameters& parameters) {
  if (avcodec_find_decoder(parameters.codec_id) != nullptr) return;
  fail(ErrorCode::kUnsupported, "{}: this FFmpeg has no decoder for its codec, {}: set the camera or server to H.264",
       stream.name, avcodec_get_name(parameters.codec_id));
}

}  // namespace

const char* allowed_protocols(const network::StreamUri& stream) { return rules_of(stream).protocols; }

VideoInput open_network_input(const network::StreamUri& stream, Interrupt& interrupt, Inspection inspection,
                              const network::OpeningTimes& patience, network::OpeningTimes& taken) {
  static std::once_flag once;
  std::call_once(once, [] { avformat_network_init(); });
  forget_message();
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) throw std::bad_alloc();
  context->interrupt_callback = interrupt.callback();
  StreamOptions options(stream, inspection);
  if (std::string_view(rules_of(stream).formats) == "rtsp") interrupt.session().begin(patience.silence);
  const auto start = Clock::now();
  interrupt.expire_at(start + patience.response);
  int error = avformat_open_input(&context, stream.url.c_str(), nullptr, options.entries());
  if (error < 0) refuse_stream(stream, error, interrupt, patience.response);
  VideoInput input{AvInput(context)};
  const bool is_whole = inspection == Inspection::kWhole;
  const auto response = Clock::now();
  interrupt.expire_at(response + patience.video + (is_whole ? kInspectionTime : kShortInspection));
  error = avformat_find_stream_info(context, nullptr);
  if (error < 0 || interrupt.has_expired() || interrupt.is_damaged())
    refuse_stream(stream, error < 0 ? error : AVERROR_EXIT, interrupt,
                  interrupt.session().is_silent(Clock::now()) ? patience.silence : patience.video);
  const auto inspected = is_whole ? kWholeInspection : kShortInspection;
  taken = {.response = response - start,
           .video = std::max<std::chrono::nanoseconds>(Clock::now() - response - inspected, {}),
           .silence = interrupt.session().longest_silence()};
  interrupt.session().open();
  input.stream = only_video(stream, *context);
  const AVCodecParameters& parameters = *input.stream->codecpar;
  check_decoder(stream, parameters);
  if (std::int64_t{parameters.width} * parameters.height > kMaxPixels)
    fail(ErrorCode::kInvalidFile, "{}: its frames have {}x{} pixels: it is damaged", stream.name, parameters.width,
         parameters.height);
  return input;
}

bool is_finite(const AVFormatContext& input) { return input.duration != AV_NOPTS_VALUE && input.duration > 0; }

bool is_offered_ahead(const AVFormatContext& input) {
  return is_finite(input) || std::string_view(input.iformat->name) == "hls";
}

bool has_times(const AVFormatContext& input) {
  const std::string_view format = input.iformat->name;
  return format != "mpjpeg" && format != "mjpeg" && format != "h264" && format != "hevc";
}

}  // namespace saccade
