#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "ffmpeg/handles.hpp"
#include "ffmpeg/watch.hpp"

namespace saccade {
namespace {

thread_local char last_message[256] = "";

void keep(void* context, int level, const char* format, va_list arguments) {
  DecoderWatch::hear(context, level, format);
  if (level <= AV_LOG_ERROR) std::vsnprintf(last_message, sizeof(last_message), format, arguments);
}

}  // namespace

void catch_messages() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(keep); });
}

void forget_message() { last_message[0] = '\0'; }

std::string reason(int error) {
  char words[AV_ERROR_MAX_STRING_SIZE] = "";
  av_strerror(error, words, sizeof(words));
  std::string_view said = last_message;
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ' || said.back() == '.')) said.remove_suffix(1);
  std::string whole = words;
  if (!said.empty()) whole.append(" (").append(said).append(")");
  // Text quoted from a file may contain any bytes.
  for (char& c : whole)
    if (c < 0x20 || c == 0x7F) c = '?';
  forget_message();
  return whole;
}

}  // namespace saccade
