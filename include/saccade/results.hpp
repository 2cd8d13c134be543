#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace saccade {

/// A box around an object, in source pixels.
struct Detection {
  std::array<float, 4> box{};  ///< x1, y1, x2, y2 (corners)
  int class_id = 0;
  std::string_view class_name;  ///< lives as long as the model
  float confidence = 0;
};

struct Classification {
  int class_id = 0;
  std::string_view class_name;
  float confidence = 0;
};

enum class Task : std::uint8_t { kDetect, kClassify };
/// "detect", "classify"
std::string_view to_string(Task task);

/// Where a frame's time went.
struct Latency {
  std::chrono::nanoseconds capture{};  ///< reading and decoding
  std::chrono::nanoseconds queue{};    ///< decoded, waiting for the model
  std::chrono::nanoseconds pre{};
  std::chrono::nanoseconds model{};
  std::chrono::nanoseconds post{};
  std::chrono::nanoseconds total{};  ///< from the start of its capture to its result
};

/// What one model says about one frame, with the frame's identity. Reused by the pipeline: valid until its next().
struct Result {
  int stream = 0;
  std::string_view source;
  std::string_view name;          ///< the image's file; empty for a frame of a video
  std::int64_t image_id = -1;     ///< the number in the image's file name; -1: none
  std::int64_t frame = 0;         ///< the source's sequence number, from 0
  std::int64_t timestamp_ns = 0;  ///< presentation time in a file, the sensor's clock on a camera
  std::string_view model;
  int model_index = 0;  ///< its place in the pipeline
  Task task = Task::kDetect;
  int width = 0;  ///< source pixels
  int height = 0;
  Latency latency;
  std::vector<Detection> detections;
  std::vector<Classification> classes;
};

}  // namespace saccade
