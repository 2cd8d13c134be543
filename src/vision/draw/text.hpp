#pragma once

#include <cairo.h>

#include <memory>
#include <string>
#include <string_view>

#include "draw/canvas.hpp"

namespace saccade {

/// Renders one line of UTF-8 text at a time; keeps its surface between lines.
class TextRenderer {
 public:
  /// TEXT, printable(), in letters of SIZE pixels. Valid until the next call.
  Coverage render(std::string_view text, int size);

 private:
  struct Destroy {
    void operator()(cairo_surface_t* surface) const noexcept { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const noexcept { cairo_destroy(context); }
  };

  void reserve(int width, int height);
  bool try_render(int size, Coverage& coverage);

  std::string text_;
  std::unique_ptr<cairo_surface_t, Destroy> surface_;
  std::unique_ptr<cairo_t, Destroy> context_;
};

}  // namespace saccade
