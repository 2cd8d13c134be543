#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.hpp"

namespace saccade {

/// The newest image of a stream, and those who wait for it. A viewer gets the newest one when it can take it: one
/// that is slow misses the others. Any thread.
class PreviewStream {
 public:
  struct Image {
    std::shared_ptr<const std::string> jpeg;  ///< null: none yet
    std::int64_t number = 0;                  ///< from 1
  };
  struct State {
    std::int64_t frames = 0;
    std::size_t objects = 0;  ///< of the newest frame
    double frame_rate = 0;    ///< of results; 0 if none came for some time
    // Of Latency::total of the newest results; 0 without any.
    std::chrono::nanoseconds p50{};
    std::chrono::nanoseconds p99{};
    bool ended = false;
  };

  /// As long as one exists, images are drawn.
  class Viewer {
   public:
    explicit Viewer(PreviewStream& stream);
    ~Viewer();
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;

   private:
    PreviewStream& stream_;
  };

  bool is_watched() const;
  /// A frame with OBJECTS has its results at TIME, with a LATENCY.
  void count(std::size_t objects, Clock::time_point time, std::chrono::nanoseconds latency);
  void show(std::string jpeg);
  /// No more images come.
  void end();

  /// The newest image if it is newer than number AFTER; waits for one. Otherwise, at the end or after PATIENCE, null.
  Image wait_for(std::int64_t after, Clock::duration patience) const;
  Image newest() const;
  State state() const;

 private:
  static constexpr std::size_t kTimes = 32;
  static constexpr std::size_t kLatencies = 500;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Image image_;
  std::size_t viewers_ = 0;
  std::int64_t frames_ = 0;
  std::size_t objects_ = 0;
  // Rings, of the last frames.
  std::array<Clock::time_point, kTimes> times_;
  std::array<std::chrono::nanoseconds, kLatencies> latencies_{};
  bool ended_ = false;
};

}  // namespace saccade
