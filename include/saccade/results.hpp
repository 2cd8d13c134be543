#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saccade/frame.hpp"
#include "saccade/region.hpp"

namespace saccade {

/// A point of an object in source pixels: a joint, or a landmark of a face.
struct Keypoint {
  float x = 0;
  float y = 0;
  float confidence = 1;  ///< 1 where the model does not say
};

/// Pixels x1 up to, but not with, x2 of the frame's row y.
struct MaskRun {
  std::int32_t y = 0;
  std::int32_t x1 = 0;
  std::int32_t x2 = 0;
};

/// An object's silhouette as the frame's pixels that belong to it; may be empty.
struct Mask {
  std::span<const MaskRun> runs;  ///< by rising y, then x; they neither meet nor overlap
  std::int64_t area = 0;          ///< pixels
};

/// A box that is turned, in source pixels.
struct OrientedBox {
  float x = 0;  ///< of the centre
  float y = 0;
  float width = 0;
  float height = 0;
  float angle = 0;  ///< radians by which its width is turned from the x axis towards the y axis
  /// Its corners, x and y each, around it from the one at (+width / 2, +height / 2) to (-width / 2, +height / 2).
  std::array<float, 8> corners() const;
};

/// An object, in source pixels.
struct Detection {
  std::array<float, 4> box{};  ///< x1, y1, x2, y2 (corners)
  int class_id = 0;
  std::string_view class_name;  ///< lives as long as the model
  float confidence = 0;
  std::span<const Keypoint> keypoints;  ///< as many for every object; empty where the model gives none
  std::optional<Mask> mask;             ///< nothing where the model gives none
  std::optional<OrientedBox> oriented;  ///< then `box` is the upright box around it
};

struct Classification {
  int class_id = 0;
  std::string_view class_name;
  float confidence = 0;
};

/// How a model's grid lies on the frame: the pixel (x, y) is seen at grid position
/// ((x + 0.5) * scale_x + offset_x, (y + 0.5) * scale_y + offset_y), the cell (0, 0) being 0..1 each way.
struct GridPlace {
  int columns = 0;
  int rows = 0;
  double scale_x = 1;
  double scale_y = 1;
  double offset_x = 0;
  double offset_y = 0;
  Region seen;  ///< the frame's pixels that the model saw
};

/// The class of every pixel.
struct ClassMap {
  GridPlace place;
  std::span<const std::int32_t> cells;  ///< class ids, or -1, row by row; empty where the model gives no map
  /// The class of the frame's pixel (x, y), which is that of the cell that it lies in; -1 where the model did not look,
  /// and where a NaN among its scores leaves no class.
  int at(int x, int y) const;
};

/// A class in a ClassMap.
struct Segment {
  int class_id = 0;
  std::string_view class_name;
  std::int64_t pixels = 0;  ///< of the frame
};

enum class DepthKind : std::uint8_t {
  kRelative,  ///< larger is farther, in no unit
  kMetric,    ///< metres
  kInverse,   ///< larger is nearer, in no unit
};
/// "relative", "metric", "inverse"
std::string_view to_string(DepthKind kind);

/// How far every pixel is.
struct DepthMap {
  GridPlace place;
  DepthKind kind = DepthKind::kRelative;
  std::span<const float> cells;  ///< row by row; empty where the model gives no depth
  float min = 0;                 ///< of the finite cells that lie in the frame, as are the others; NaN where none is
  float max = 0;
  float mean = 0;
  /// The depth at the frame's pixel (x, y), bilinear between the cells' centres; NaN where the model did not look.
  float at(int x, int y) const;
};

/// What a model is for. A model with several answers (a card with several outputs) has the first one's.
enum class Task : std::uint8_t {
  kDetect,
  kClassify,
  kSegment,   ///< objects with masks
  kPose,      ///< objects with keypoints
  kOriented,  ///< objects in turned boxes
  kSemantic,  ///< a class for every pixel
  kDepth,
  kUpscale,  ///< a larger picture
};
inline constexpr std::size_t kTasks = 8;
/// "detect", "classify", "segment", "pose", "obb", "semantic", "depth", "upscale"
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

/// What can be wrong with the numbers that a model's answers are made of. Damaged weights, an overflow in half
/// precision or a card that takes logits for probabilities show themselves so.
enum class Fault : std::uint8_t {
  kNanConfidence,    ///< among all scores, those of classes and objects too that are not answered
  kConfidenceRange,  ///< below 0 or above 1 by more than rounding
  kNanBox,           ///< of an object that is confident enough; it is left out
  kInfiniteBox,      ///< likewise
  kNegativeSize,     ///< a box that ends before it begins
  kNotFiniteKeypoint,
  kNotFiniteMask,   ///< NaN or infinity among the logits that an object's mask is made of
  kNanClassMap,     ///< among the scores of cells that the frame's pixels lie in
  kNotFiniteDepth,  ///< in a cell that the frame's pixels lie in; infinity is no fault of a metric depth
  kNotFinitePixel,  ///< in the picture that the model made
};
inline constexpr std::size_t kFaults = 10;
/// "a NaN among the confidences", ...
std::string_view to_string(Fault fault);

/// A set of them.
class Faults {
 public:
  constexpr Faults() = default;
  /// Bit i stands for the fault of number i.
  constexpr explicit Faults(std::uint32_t bits) : bits_(bits) {}
  constexpr void add(Fault fault) { bits_ |= 1U << static_cast<unsigned>(fault); }
  constexpr void add(Faults others) { bits_ |= others.bits_; }
  constexpr bool has(Fault fault) const { return (bits_ >> static_cast<unsigned>(fault) & 1U) != 0; }
  constexpr bool any() const { return bits_ != 0; }
  constexpr std::uint32_t bits() const { return bits_; }

 private:
  std::uint32_t bits_ = 0;
};

/// All of them, separated by commas.
std::string to_string(Faults faults);

/// What one model says about one frame, with the frame's identity. It holds all that the model gives, whatever its
/// task. Reused by the pipeline: valid, and all that it points to, until its next().
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
  std::vector<Segment> segments;  ///< the classes of class_map that there are, by falling size
  ClassMap class_map;
  DepthMap depth;
  FrameView image;  ///< kRgb24, what a model made of the frame; width 0 where it makes none
  Faults faults;    ///< what was wrong with the model's numbers; answers that they spoil are left out
  /// Whether the answers are not to be relied on.
  bool invalid() const { return faults.any(); }
};

}  // namespace saccade
