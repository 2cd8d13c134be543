#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <utility>

#include "ffmpeg/handles.hpp"
#include "ffmpeg/interrupt.hpp"
#include "ffmpeg/watch.hpp"
#include "media/network/uri.hpp"

namespace saccade {
namespace {

thread_local char last_message[256] = "";
thread_local std::int64_t losses = 0;

/// Whether FORMAT is that of the message about RTP packets that are missing, or out of order where they can't be.
bool is_about_loss(std::string_view format) {
  return format.starts_with("RTP: missed ") || format.find(": bad cseq ") != std::string_view::npos;
}

/// The RTSP session of CONTEXT, an FFmpeg object or null; null: none is watched.
network::RtspWatch* session_of(void* context) {
  if (context == nullptr || *static_cast<const AVClass* const*>(context) != avformat_get_class()) return nullptr;
  Interrupt* interrupt = Interrupt::of(*static_cast<const AVFormatContext*>(context));
  return interrupt != nullptr ? &interrupt->session() : nullptr;
}

/// What FFmpeg's RTSP client sends and receives, in messages of the lowest level.
void hear_session(void* context, std::string_view format, va_list arguments) {
  const bool is_request = format == "Sending:\n%s--\n";
  const bool is_line = format == "line='%s'\n";
  const bool is_packet = format == "id=%d len=%d\n";
  if (!is_request && !is_line && !is_packet) return;
  network::RtspWatch* session = session_of(context);
  if (session == nullptr) return;
  va_list values;
  va_copy(values, arguments);
  if (is_packet) {
    const int channel = va_arg(values, int);
    session->hear_packet(channel, va_arg(values, int), Clock::now());
  } else if (is_line) {
    session->hear_line(va_arg(values, const char*), Clock::now());
  } else {
    session->hear_request(va_arg(values, const char*), Clock::now());
  }
  va_end(values);
}

void keep(void* context, int level, const char* format, va_list arguments) {
  DecoderWatch::hear(context, level, format);
  if (level == AV_LOG_TRACE) hear_session(context, format, arguments);
  if (level <= AV_LOG_WARNING && is_about_loss(format)) ++losses;
  if (level <= AV_LOG_ERROR) std::vsnprintf(last_message, sizeof(last_message), format, arguments);
}

}  // namespace

void catch_messages() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(keep); });
}

void forget_message() { last_message[0] = '\0'; }

bool take_losses() { return std::exchange(losses, 0) > 0; }

std::string reason(int error) {
  char words[AV_ERROR_MAX_STRING_SIZE] = "";
  av_strerror(error, words, sizeof(words));
  // It may quote an address with its password.
  const std::string quoted = network::redact(last_message);
  std::string_view said = quoted;
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ' || said.back() == '.')) said.remove_suffix(1);
  // Often the message is the reason with more words.
  std::string whole(said.find(words) != std::string_view::npos ? said : std::string_view(words));
  if (!said.empty() && whole != said) whole.append(" (").append(said).append(")");
  // What RTSP passes on to TCP is not a part of the address.
  constexpr std::string_view kOfFfmpeg = "?timeout=0";
  if (const std::size_t at = whole.find(kOfFfmpeg); at != std::string::npos) whole.erase(at, kOfFfmpeg.size());
  // Text quoted from a file may contain any bytes.
  for (char& c : whole)
    if (c < 0x20 || c == 0x7F) c = '?';
  forget_message();
  return whole;
}

}  // namespace saccade
