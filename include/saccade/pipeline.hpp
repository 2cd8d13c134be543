#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

#include "saccade/camera.hpp"
#include "saccade/drop_policy.hpp"
#include "saccade/frame.hpp"
#include "saccade/model.hpp"
#include "saccade/outcome.hpp"
#include "saccade/results.hpp"
#include "saccade/summary.hpp"

namespace saccade {

struct PipelineOptions {
  DropPolicy drop = DropPolicy::kAuto;
  std::size_t queue = 0;                ///< frames a source that may wait for the models; 0: 1 if live, else 4
  std::int64_t max_frames = 0;          ///< frames to capture from each source; 0: all
  std::chrono::nanoseconds duration{};  ///< stop after this time; 0: never
};

/// Frames from cameras through models. One thread for each camera reads ahead into a bounded queue; the models run on
/// the thread that calls next(). After its first frames it allocates nothing. One thread at a time, but for stop().
class Pipeline {
 public:
  /// Compiles the models if needed and starts to read. Throws Error where a model can't be used on frames or a camera
  /// is already being read.
  Pipeline(Camera camera, Model model, const PipelineOptions& options = {});
  /// Every model sees every frame of every camera.
  Pipeline(std::vector<Camera> cameras, const std::vector<Model>& models, const PipelineOptions& options = {});
  /// Stops wherever it is.
  ~Pipeline();
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;

  static constexpr auto kForever = std::chrono::nanoseconds::max();

  /// The next frame's result, one a model, cameras in turn; or why there is none: kEnd when all cameras have ended,
  /// kLost naming one that failed (the others go on), kFailed naming the model that could not run on a frame (that
  /// frame is left; the next may), kTimeout, kCancelled after stop(). The result is valid until the following call.
  Outcome<Result&> next(std::chrono::nanoseconds timeout = kForever);

  /// The pixels of the frame that the last result is about. Valid as long as that result.
  const FrameView& frame() const;

  /// Ends next(), now and later; frames that wait are counted as stopped. Any thread, but no signal handler.
  void stop() noexcept;

  Summary summary() const;

  class Iterator;
  /// The loop `for (auto& result : pipeline)` ends with the cameras or stop() and throws Error on a fault that could
  /// not be recovered.
  Iterator begin();
  static std::default_sentinel_t end() { return {}; }

  class Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Single pass: a copy moves with its original.
class Pipeline::Iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = Result;
  using difference_type = std::ptrdiff_t;

  explicit Iterator(Pipeline& pipeline) : pipeline_(&pipeline) { advance(); }

  Result& operator*() const { return *result_; }
  Result* operator->() const { return result_; }
  Iterator& operator++() {
    advance();
    return *this;
  }
  void operator++(int) { advance(); }
  friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.result_ == nullptr; }

 private:
  void advance();

  Pipeline* pipeline_;
  Result* result_ = nullptr;
};

}  // namespace saccade
