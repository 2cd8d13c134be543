#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saccade/frame.hpp"
#include "saccade/region.hpp"
#include "saccade/zones.hpp"

namespace saccade {

/// A keypoint in source pixels: a joint, or a facial landmark.
struct Keypoint {
  float x = 0;           ///< to the right
  float y = 0;           ///< downwards
  float confidence = 1;  ///< 1 if the model has none
};

/// Pixels x1 (inclusive) to x2 (exclusive) of the frame's row y.
struct MaskRun {
  std::int32_t y = 0;   ///< row
  std::int32_t x1 = 0;  ///< first column
  std::int32_t x2 = 0;  ///< column after the last
};

/// An object's mask as runs of frame pixels; may be empty.
struct Mask {
  std::span<const MaskRun> runs;  ///< sorted by y, then x; neither adjacent nor overlapping
  std::int64_t area = 0;          ///< pixels
};

/// An oriented box (OBB) in source pixels.
struct OrientedBox {
  float x = 0;       ///< centre
  float y = 0;       ///< centre
  float width = 0;   ///< along the angle
  float height = 0;  ///< across the angle
  float angle = 0;   ///< rotation of the width in radians, from the x axis towards the y axis
  /// Its corners, x and y each, in order around the box from (+width / 2, +height / 2) to (-width / 2, +height / 2).
  std::array<float, 8> corners() const;
};

/// A class of the whole image, or of an object.
struct Classification {
  int class_id = 0;             ///< index of the model's labels
  std::string_view class_name;  ///< valid as long as the model
  float confidence = 0;         ///< 0 to 1
};

/// A detected object in source pixels.
struct Detection {
  std::array<float, 4> box{};           ///< x1, y1, x2, y2 (corners)
  int class_id = 0;                     ///< index of the model's labels
  std::string_view class_name;          ///< valid as long as the model
  float confidence = 0;                 ///< 0 to 1
  std::int64_t track_id = 0;            ///< from 1, unique in the stream; 0: on no confirmed track
  std::span<const Keypoint> keypoints;  ///< the same number for every object; empty if the model has none
  std::optional<Mask> mask;             ///< nullopt if the model has none
  std::optional<OrientedBox> oriented;  ///< `box` is then its axis-aligned bounding box
  /// What the second model of the card predicts for the object's crop, as Result::embedding; empty if there is none.
  std::span<const float> embedding;
  std::span<const Classification> classes;  ///< likewise, in descending order of confidence
  std::string_view text;                    ///< likewise, as Result::text
  float text_confidence = 0;                ///< of the text
};

/// Maps frame pixels to a model's grid: the pixel (x, y) is at the grid position
/// ((x + 0.5) * scale_x + offset_x, (y + 0.5) * scale_y + offset_y). The cell (0, 0) spans 0..1 along each axis.
struct GridPlace {
  int columns = 0;      ///< cells per row
  int rows = 0;         ///< rows of cells
  double scale_x = 1;   ///< cells per pixel
  double scale_y = 1;   ///< cells per pixel
  double offset_x = 0;  ///< cells
  double offset_y = 0;  ///< cells
  Region seen;          ///< the frame's pixels inside the model's input
};

/// The class of every pixel.
struct ClassMap {
  GridPlace place;                      ///< position of the cells on the frame
  std::span<const std::int32_t> cells;  ///< class IDs, or -1, row by row; empty if the model has no class map
  int background = -1;                  ///< the class that is the background; -1: none
  /// The class of the frame's pixel (x, y), taken from its cell; -1 outside the model's input and where a NaN among the
  /// scores leaves no class.
  int at(int x, int y) const;
};

/// A class in a ClassMap.
struct Segment {
  int class_id = 0;             ///< index of the model's labels
  std::string_view class_name;  ///< valid as long as the model
  std::int64_t pixels = 0;      ///< of the frame
};

/// The unit and direction of a depth.
enum class DepthKind : std::uint8_t {
  kRelative,  ///< larger is farther, without unit
  kMetric,    ///< metres
  kInverse,   ///< larger is nearer, without unit
};
/// "relative", "metric", "inverse"
std::string_view to_string(DepthKind kind);

/// The depth of every pixel.
struct DepthMap {
  GridPlace place;                        ///< position of the cells on the frame
  DepthKind kind = DepthKind::kRelative;  ///< unit and direction
  std::span<const float> cells;           ///< row by row; empty if the model has no depth
  float min = 0;   ///< over the finite cells inside the frame, like max and mean; NaN if there are none
  float max = 0;   ///< like min
  float mean = 0;  ///< like min
  /// The depth at the frame's pixel (x, y), bilinear between cell centres; NaN outside the model's input.
  float at(int x, int y) const;
};

/// The task of a model. A model with several heads has the task of the first one.
enum class Task : std::uint8_t {
  kDetect,
  kClassify,
  kSegment,   ///< objects with masks
  kPose,      ///< objects with keypoints
  kOriented,  ///< objects with oriented boxes (OBB)
  kSemantic,  ///< a class for every pixel
  kDepth,
  kUpscale,  ///< super-resolution
  kEmbed,    ///< a vector for the frame
  kText,     ///< the text of the frame, one line
  kTrack,    ///< the box of one object, followed from frame to frame
};
/// The number of tasks.
inline constexpr std::size_t kTasks = 11;
/// "detect", "classify", "segment", "pose", "obb", "semantic", "depth", "upscale", "embed", "text", "track"
std::string_view to_string(Task task);

/// The latency of a frame by stage.
struct Latency {
  /// From the start of the exposure to the start of CAPTURE; nothing if the source does not tell the time of exposure.
  std::optional<std::chrono::nanoseconds> sensor;
  std::chrono::nanoseconds capture{};  ///< reading and decoding
  std::chrono::nanoseconds queue{};    ///< waiting for the model
  std::chrono::nanoseconds pre{};      ///< preprocessing
  std::chrono::nanoseconds model{};    ///< the network
  std::chrono::nanoseconds post{};     ///< post-processing
  std::chrono::nanoseconds total{};    ///< from the start of SENSOR, else of CAPTURE, to the result
};

/// Faults in the numbers that predictions are made of. They are caused by damaged weights, an overflow in half
/// precision or a card that treats logits as probabilities.
enum class Fault : std::uint8_t {
  kNanConfidence,    ///< among all scores, including those of dropped classes and objects
  kConfidenceRange,  ///< below 0 or above 1 by more than rounding
  kNanBox,           ///< of an object above the threshold; it is dropped
  kInfiniteBox,      ///< likewise
  kNegativeSize,     ///< a box with x2 < x1 or y2 < y1
  kNotFiniteKeypoint,
  kNotFiniteMask,     ///< NaN or infinity among the logits of an object's mask
  kNanClassMap,       ///< among the scores of cells inside the frame
  kNotFiniteDepth,    ///< in a cell inside the frame; infinity is valid in metric depth
  kNotFinitePixel,    ///< in the generated image
  kInvalidEmbedding,  ///< a NaN or an infinity in an embedding, or nothing but zeros
};
/// The number of faults.
inline constexpr std::size_t kFaults = 11;
/// "a NaN among the confidences", ...
std::string_view to_string(Fault fault);

/// A set of them.
class Faults {
 public:
  constexpr Faults() = default;
  /// Bit i is the fault with the value i.
  constexpr explicit Faults(std::uint32_t bits) : bits_(bits) {}
  /// Adds one.
  constexpr void add(Fault fault) { bits_ |= 1U << static_cast<unsigned>(fault); }
  /// Adds all of OTHERS.
  constexpr void add(Faults others) { bits_ |= others.bits_; }
  /// Whether FAULT is in the set.
  constexpr bool has(Fault fault) const { return (bits_ >> static_cast<unsigned>(fault) & 1U) != 0; }
  /// Whether the set is not empty.
  constexpr bool any() const { return bits_ != 0; }
  /// Bit i is the fault with the value i.
  constexpr std::uint32_t bits() const { return bits_; }

 private:
  std::uint32_t bits_ = 0;
};

/// All of them, separated by commas.
std::string to_string(Faults faults);

/// All predictions of one model for one frame, regardless of the task, with the frame's identity. The pipeline reuses
/// it: it and everything it points to are valid until the next call of next(). A copy refers to the same memory;
/// clone() owns its own.
struct Result {
  /// Index of the source in the pipeline.
  int stream = 0;
  /// The SourceInfo::name of its source.
  std::string_view source;
  std::string_view name;          ///< the image's file name; empty for a frame of a video
  std::int64_t image_id = -1;     ///< the number in the image's file name; -1: none
  std::int64_t frame = 0;         ///< the source's sequence number, from 0
  std::int64_t timestamp_ns = 0;  ///< presentation time in a file, the sensor's clock on a camera
  /// Of a network stream: when the frame was captured, by the clock of its sender (RTCP), else when it arrived.
  std::optional<std::chrono::system_clock::time_point> captured_at;
  /// The Model::name() of its model.
  std::string_view model;
  int model_index = 0;  ///< index in the pipeline
  /// Of the model.
  Task task = Task::kDetect;
  int width = 0;  ///< source pixels
  /// Source pixels.
  int height = 0;
  /// By stage.
  Latency latency;
  /// Objects; empty if the model finds none.
  std::vector<Detection> detections;
  /// Of the whole image; empty if the model is not a classifier.
  std::vector<Classification> classes;
  std::vector<Segment> segments;  ///< the classes present in class_map, in descending order of size
  /// Empty if the model has none.
  ClassMap class_map;
  /// Empty if the model has none.
  DepthMap depth;
  FrameView image;  ///< kRgb24, the generated image; width 0 if the model has none
  /// The frame's embedding, of length 1 (L2) unless the card says `normalize = false`: the dot product of two is their
  /// cosine similarity. Empty if the model has none.
  std::span<const float> embedding;
  /// Objects of the second model's classes that it did not run on: more than the card's `most`, or outside of the
  /// frame.
  int uncropped = 0;
  std::string_view text;                   ///< the line of text in the frame, UTF-8; empty if there is none
  float text_confidence = 0;               ///< of the text: the mean over its characters, 0 to 1; 0 without text
  std::span<const ZoneState> zones;        ///< PipelineOptions::zones of the source and model, with counts so far
  std::span<const ZoneEvent> zone_events;  ///< what this frame has changed in the zones
  Faults faults;                           ///< faults in the model's numbers; affected predictions are dropped
  /// Owns what the result refers to, if it is a clone().
  std::shared_ptr<const void> storage;

  /// A deep copy. It and its copies share what they refer to, names included. They need neither the pipeline nor the
  /// model, and are valid as long as they exist. Any thread. Allocates: not for the frame path.
  Result clone() const;
  /// Whether the predictions are unreliable.
  bool invalid() const { return faults.any(); }
};

/// RESULT as the object that open_jsonl() writes on a line (docs/command.md), without the line feed and without the
/// events of zones. CONTOURS: with those of masks. Any thread.
std::string to_json(const Result& result, bool contours = false);

}  // namespace saccade
