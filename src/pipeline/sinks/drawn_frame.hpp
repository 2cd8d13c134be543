#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "saccade/results.hpp"
#include "vision/drawer.hpp"

namespace saccade {

/// A stream's current frame in RGB with the results of all models drawn on it. A frame is complete when a result of
/// the next one arrives, or at the end. Reuses its memory.
class DrawnFrame {
 public:
  using Done = std::function<void(const DrawnFrame&)>;

  /// DONE receives every complete image.
  DrawnFrame(const DrawModule& module, Done done) : drawer_(module.make_drawer()), done_(std::move(done)) {}

  /// Draws RESULT; the first result of a frame starts with a copy of FRAME. A generated image replaces the frame, with
  /// everything drawn so far.
  void add(const Result& result, const FrameView& frame);
  void finish();

  RgbView view() const { return view_; }
  /// That are drawn on it.
  int results() const { return results_; }
  std::int64_t frame() const { return frame_; }
  std::int64_t timestamp_ns() const { return timestamp_ns_; }

 private:
  /// Sets FRAME as the canvas.
  void show(const FrameView& frame);

  std::unique_ptr<Drawer> drawer_;
  Done done_;
  std::vector<std::uint8_t> pixels_;
  RgbView view_;
  int results_ = 0;
  std::int64_t frame_ = 0;
  std::int64_t timestamp_ns_ = 0;
  int last_model_ = -1;  ///< -1: no frame yet
};

}  // namespace saccade
