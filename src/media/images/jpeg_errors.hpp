#pragma once

#include <csetjmp>
#include <cstdio>

// jpeglib.h uses FILE and size_t without including them.
#include <jerror.h>
#include <jpeglib.h>

namespace saccade {

/// libjpeg's errors, which end the call by longjmp() to `leave`.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf leave;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] inline void leave_jpeg(j_common_ptr info) {
  auto* state = reinterpret_cast<JpegErrors*>(info->err);
  state->base.format_message(info, state->message);
  std::longjmp(state->leave, 1);
}

/// libjpeg continues after damage and fills with grey: here a warning ends the decoding, except warnings about oddities
/// that affect no pixel.
inline void note_jpeg_warning(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL: return;
    default: leave_jpeg(info);
  }
}

inline void ignore_jpeg_message(j_common_ptr) {}

/// Before each setjmp() on `leave`.
inline jpeg_error_mgr* install(JpegErrors& state) {
  jpeg_std_error(&state.base);
  state.base.error_exit = leave_jpeg;
  state.base.emit_message = note_jpeg_warning;
  state.base.output_message = ignore_jpeg_message;
  state.message[0] = '\0';
  return &state.base;
}

}  // namespace saccade
