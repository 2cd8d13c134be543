#pragma once

#include <png.h>

#include <cstdio>

namespace saccade {

/// libpng's last message: the error pointer of its structs, used by png_leave().
struct PngMessage {
  char text[128] = "";
};

/// libpng's error function: keeps the message and jumps to where png_jmpbuf() was set.
[[noreturn]] inline void png_leave(png_structp png, png_const_charp message) {
  auto* to = static_cast<PngMessage*>(png_get_error_ptr(png));
  std::snprintf(to->text, sizeof(to->text), "%s", message);
  png_longjmp(png, 1);
}

inline void png_stay_silent(png_structp /*png*/, png_const_charp /*message*/) {}

}  // namespace saccade
