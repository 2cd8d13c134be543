#pragma once

#include <array>
#include <memory>

#include "saccade/frame.hpp"
#include "saccade/model.hpp"
#include "saccade/results.hpp"

namespace saccade {

/// Runs a model, with its pre- and post-processing, on the caller's own frames. Owns the mutable memory: one thread at
/// a time. Several sessions of one model may run concurrently.
class FrameSession {
 public:
  /// Compiles the model for frames if this is its first use on frames. Throws Error, (kUnsupported) if the model is not
  /// recognised and has no card, (kInvalidArgument) if it has a PostprocessOptions::tracker, which needs a stream.
  explicit FrameSession(const Model& model);
  ~FrameSession();
  /// The session that was moved from can only be assigned or destroyed.
  FrameSession(FrameSession&&) noexcept;
  /// The session that was moved from can only be assigned or destroyed.
  FrameSession& operator=(FrameSession&&) noexcept;

  /// The predictions for FRAME, in its pixels, with the number of the run as Result::frame. The samples of FRAME are
  /// on the host (MemoryKind::kPlain or kPinned) or on the model's GPU (kDevice, with FrameView::device and ready), and
  /// must not change until run() returns. The result, and what it refers to,
  /// are valid until the next run() or the end of the session. Throws Error (kInvalidArgument) if FRAME has no size,
  /// lacks a plane, or has a pitch shorter than a row; if the card's region of interest is outside of it; or if the
  /// model is a tracker without a target.
  const Result& run(const FrameView& frame);

  /// For a tracker of one object (Task::kTrack): the next frame shows the object in BOX, corners in pixels as
  /// Detection::box. It is followed from there on, in place of ModelOptions::target or an earlier one. Throws Error
  /// (kInvalidArgument) if the model is none, or if BOX is smaller than a pixel or beyond a million pixels.
  void follow(const std::array<float, 4>& box);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade
