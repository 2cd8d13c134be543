#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "tensor/frame.hpp"

namespace saccade {

/// What a person did with a window.
struct WindowWish {
  bool close = false;
  bool hold = false;  ///< the space bar: hold the image, or go on
};

/// A window with a pane for each stream. Used by the thread that opened it.
class VideoWindow {
 public:
  virtual ~VideoWindow() = default;
  virtual void set_title(const std::string& title) = 0;
  /// Copies IMAGE, which serve() shows in PANE.
  virtual void put(std::size_t pane, const RgbView& image) = 0;
  /// Draws what is new and takes events, for PATIENCE.
  virtual WindowWish serve(std::chrono::milliseconds patience) = 0;
};

/// Interface of the show module (SDL2); get it with module<ShowModule>("show").
struct ShowModule {
  /// Throws Error (kDevice) without a display. One window at a time.
  std::unique_ptr<VideoWindow> (*open)(const std::string& title, std::size_t panes);
};

}  // namespace saccade
