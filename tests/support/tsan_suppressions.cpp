// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming): the name that ThreadSanitizer looks for
extern "C" const char* __tsan_default_suppressions() {
  // Debian's FFmpeg is not instrumented: its threads synchronise by atomics that are not seen.
  return "race:libavutil.so\nrace:libavcodec.so\nrace:libavformat.so\n";
}
