#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "saccade/results.hpp"
#include "vision/drawer.hpp"

namespace saccade {

/// A stream's current frame in RGB with the results of all models drawn on it. A frame is whole when a result of the
/// next one comes, or at the end. Keeps its memory between frames.
class Picture {
 public:
  using Done = std::function<void(const Picture&)>;

  /// DONE gets every whole image.
  Picture(const DrawModule& module, Done done) : drawer_(module.make_drawer()), done_(std::move(done)) {}

  /// Draws RESULT, first on a copy of FRAME where it is the first about its frame. An image that a model made of the
  /// frame takes its place, with all that was drawn until then.
  void add(const Result& result, const FrameView& frame);
  void finish();

  RgbView view() const { return view_; }
  std::int64_t frame() const { return frame_; }
  std::int64_t timestamp_ns() const { return timestamp_ns_; }

 private:
  /// Makes FRAME what is seen.
  void show(const FrameView& frame);

  std::unique_ptr<Drawer> drawer_;
  Done done_;
  std::vector<std::uint8_t> pixels_;
  RgbView view_;
  std::int64_t frame_ = 0;
  std::int64_t timestamp_ns_ = 0;
  int last_model_ = -1;  ///< -1: no frame is begun
};

}  // namespace saccade
