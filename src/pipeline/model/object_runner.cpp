#include "pipeline/model/object_runner.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "vision/crop_warp.hpp"
#include "vision/object_crop.hpp"

namespace saccade {
namespace {

/// Bytes of text that an object has room for from the start.
constexpr std::size_t kLetters = 256;

/// Of an oriented crop: the diagonal of a frame.
int longest_side(int width, int height) { return static_cast<int>(std::ceil(std::hypot(width, height))); }

}  // namespace

ObjectRunner::ObjectRunner(const SecondModel& options, const Model& second)
    : options_(options),
      runner_(second, 0),
      width_(impl_of(second).card().width),
      height_(impl_of(second).card().height) {}

void ObjectRunner::run(const Frame& frame, Result& result) {
  const auto start = Clock::now();
  const FrameView pixels = pixels_of(frame, result.task == Task::kOriented);
  warm_up(frame, pixels, result.task == Task::kOriented);
  choose(result);
  embeddings_.clear();
  classes_.clear();
  texts_.clear();
  taken_.clear();
  result.uncropped = 0;
  for (const std::size_t object : chosen_) {
    const std::optional<FrameView> crop = taken_.size() < static_cast<std::size_t>(options_.most)
                                              ? crop_of(result.detections[object], pixels)
                                              : std::nullopt;
    if (!crop) {
      ++result.uncropped;
      continue;
    }
    run_on(*crop, frame);
    result.faults.add(runner_.result().faults);
    take(object);
  }
  crops_ = taken_.size();
  hand_over(result);
  result.latency.model += Clock::now() - start;
}

/// A crop that is no rectangle of the frame is made on the host.
FrameView ObjectRunner::pixels_of(const Frame& frame, bool is_oriented) const {
  return is_oriented || options_.align == CropAlign::kFivePoints ? host_view(frame) : runner_.input_of(frame);
}

/// A run on the largest crop that the frame can have: all memory is allocated for the first frame.
void ObjectRunner::warm_up(const Frame& frame, const FrameView& pixels_there, bool is_oriented) {
  if (frame.view.width <= warm_width_ && frame.view.height <= warm_height_) return;
  warm_width_ = std::max(warm_width_, frame.view.width);
  warm_height_ = std::max(warm_height_, frame.view.height);
  const bool is_face = options_.align == CropAlign::kFivePoints;
  if (is_face || is_oriented) {
    const int width = is_face ? width_ : longest_side(warm_width_, warm_height_);
    const int height = is_face ? height_ : width;
    std::uint8_t* const pixels = pixels_for(width, height);
    // An embedding of black may be invalid.
    for (std::size_t i = 0; i < pixels_.size(); ++i) pixels_[i] = static_cast<std::uint8_t>(i);
    run_on(view_of(RgbView{pixels, 3 * width, width, height}), frame);
  } else {
    run_on(pixels_there, frame);
  }
  const auto most = static_cast<std::size_t>(options_.most);
  taken_.reserve(most);
  embeddings_.reserve(most * runner_.result().embedding.size());
  classes_.reserve(most * runner_.result().classes.capacity());
  if (runner_.result().task == Task::kText) texts_.reserve(most * kLetters);
}

/// Nothing if OBJECT has no pixel of FRAME, or if its shape is not one to crop. Valid until the next call.
std::optional<FrameView> ObjectRunner::crop_of(const Detection& object, const FrameView& frame) {
  const std::optional<Region> region = object_region(object, options_.margin, frame);
  const bool is_face = options_.align == CropAlign::kFivePoints;
  if (!region || (!is_face && !object.oriented)) return region ? std::optional(crop(frame, *region)) : std::nullopt;
  const std::optional<CropWarp> shape =
      is_face ? face_crop(object.keypoints, width_, height_)
              : oriented_crop(*object.oriented, options_.margin, longest_side(frame.width, frame.height));
  if (!shape) return std::nullopt;
  std::uint8_t* const pixels = pixels_for(shape->width, shape->height);
  warp(frame, *shape, pixels);
  return view_of(RgbView{pixels, 3 * shape->width, shape->width, shape->height});
}

/// Memory for a kRgb24 crop of this size.
std::uint8_t* ObjectRunner::pixels_for(int width, int height) {
  constexpr std::size_t kSlack = 64;  // vector kernels may read up to one vector past the end
  const std::size_t bytes = 3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height) + kSlack;
  if (pixels_.size() < bytes) pixels_.resize(bytes);
  return pixels_.data();
}

void ObjectRunner::choose(const Result& result) {
  chosen_.reserve(result.detections.capacity());
  chosen_.clear();
  for (std::size_t i = 0; i < result.detections.size(); ++i)
    if (is_wanted(result.detections[i])) chosen_.push_back(i);
  std::ranges::sort(chosen_, [&](std::size_t a, std::size_t b) {
    const float first = result.detections[a].confidence;
    const float second = result.detections[b].confidence;
    return first != second ? first > second : a < b;
  });
}

bool ObjectRunner::is_wanted(const Detection& object) const {
  return options_.class_ids.empty() ||
         std::ranges::find(options_.class_ids, object.class_id) != options_.class_ids.end();
}

void ObjectRunner::run_on(const FrameView& crop, const Frame& frame) {
  crop_.view = crop;
  crop_.name = frame.name;
  crop_.sequence = frame.sequence;
  runner_.run(crop_);
}

/// Copies the prediction for OBJECT: the next crop overwrites it.
void ObjectRunner::take(std::size_t object) {
  const Result& from = runner_.result();
  taken_.push_back({object, embeddings_.size(), classes_.size(), texts_.size(), from.text_confidence});
  embeddings_.insert(embeddings_.end(), from.embedding.begin(), from.embedding.end());
  classes_.insert(classes_.end(), from.classes.begin(), from.classes.end());
  texts_ += from.text;
}

void ObjectRunner::hand_over(Result& result) const {
  const std::span<const float> embeddings = embeddings_;
  const std::span<const Classification> classes = classes_;
  const std::string_view texts = texts_;
  const Taken end{.embedding = embeddings.size(), .classes = classes.size(), .text = texts.size()};
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const Taken& from = taken_[i];
    const Taken& to = i + 1 == taken_.size() ? end : taken_[i + 1];
    Detection& object = result.detections[from.object];
    object.embedding = embeddings.subspan(from.embedding, to.embedding - from.embedding);
    object.classes = classes.subspan(from.classes, to.classes - from.classes);
    object.text = texts.substr(from.text, to.text - from.text);
    object.text_confidence = from.text_confidence;
  }
}

}  // namespace saccade
