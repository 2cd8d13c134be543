#include "pipeline/model/target_tracker.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.hpp"
#include "ops/elementwise/cast.hpp"
#include "ops/interpreter/interpret.hpp"
#include "vision/crop_warp.hpp"

// The geometry is that of OSTrack's sample_target(), map_box_back() and clip_box().
namespace saccade {
namespace {

constexpr float kLeastSide = 10;        // of a box, in pixels: clip_box's margin
constexpr float kFarthest = 1'000'000;  // edge of a box: its search region's edges fit int

/// BOX, cut at the frame's borders, with at least kLeastSide on each side where the frame allows it.
std::array<float, 4> clipped(const std::array<float, 4>& box, const std::array<int, 2>& frame) {
  std::array<float, 4> to{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto length = static_cast<float>(frame[axis]);
    const float least = std::min(kLeastSide, length);
    to[axis] = std::clamp(box[axis], 0.0F, length - least);
    to[axis + 2] = std::max(std::clamp(box[axis + 2], least, length), to[axis] + least);
  }
  return to;
}

}  // namespace

TargetTracker::TargetTracker(const VisionPlan& vision, const TensorView& target) : vision_(vision), target_(target) {
  constexpr std::size_t kSlack = 64;  // vector kernels may read up to one vector past the end
  const auto bytes = [](int width, int height) {
    return 3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height) + kSlack;
  };
  const Card& card = vision.card;
  pixels_.resize(std::max(bytes(card.width, card.height), bytes(card.track->width, card.track->height)));
}

void TargetTracker::follow(const std::array<float, 4>& box) {
  if (!std::ranges::all_of(box, [](float edge) { return std::abs(edge) <= kFarthest; }) ||
      !(box[2] - box[0] >= 1 && box[3] - box[1] >= 1))
    fail(ErrorCode::kInvalidArgument,
         "the object's box {}, {}, {}, {} is not one of at least a pixel within {:.0f} pixels", box[0], box[1], box[2],
         box[3], kFarthest);
  box_ = box;
  is_first_ = true;
}

std::size_t TargetTracker::begin(const FrameView& frame) {
  if (!box_)
    fail(ErrorCode::kInvalidArgument,
         "a tracker of one object needs its box in the first frame: ModelOptions::target, FrameSession::follow() or "
         "--target X,Y,W,H");
  frame_size_ = {frame.width, frame.height};
  if (is_first_) take_target(frame);
  // A plan may use an input's memory for other values.
  cast_elements(view_of(image_), target_);
  place_ = square_around(*box_, vision_.card.track->search_factor);
  tile_ = cut(frame, place_, vision_.card.width, vision_.card.height);
  return 1;
}

void TargetTracker::take_target(const FrameView& frame) {
  const std::array<float, 4>& box = *box_;
  if (!(box[0] < static_cast<float>(frame.width) && box[1] < static_cast<float>(frame.height) && box[2] > 0 &&
        box[3] > 0))
    fail(ErrorCode::kInvalidArgument, "the object's box {}, {}, {}, {} lies outside of the frame of {}x{} pixels",
         box[0], box[1], box[2], box[3], frame.width, frame.height);
  const TrackImages& track = *vision_.card.track;
  Square square = square_around(box, track.target_factor);
  const FrameView crop = cut(frame, square, track.width, track.height);
  Tensor given(DType::kFrame, {});
  std::memcpy(given.raw(), &crop, sizeof crop);
  const Graph& preprocessing = *vision_.target;
  image_ = interpret(preprocessing, {{preprocessing.value(preprocessing.inputs()[0]).name, given}}).front();
}

/// The square with BOX at its centre.
TargetTracker::Square TargetTracker::square_around(const std::array<float, 4>& box, float factor) {
  const double width = double{box[2]} - box[0];
  const double height = double{box[3]} - box[1];
  const double side = std::ceil(std::sqrt(width * height) * factor);
  return {static_cast<int>(std::nearbyint(box[0] + 0.5 * width - 0.5 * side)),
          static_cast<int>(std::nearbyint(box[1] + 0.5 * height - 0.5 * side)), static_cast<int>(side)};
}

/// The pixels of SQUARE, whose corner is moved to a whole chroma sample; bilinear, of WIDTH x HEIGHT pixels, and black
/// outside where SQUARE crosses the frame's border. Valid until the next call.
FrameView TargetTracker::cut(const FrameView& frame, Square& square, int width, int height) {
  if (square.x >= 0 && square.y >= 0 && square.x + square.side <= frame.width &&
      square.y + square.side <= frame.height) {
    if (shares_chroma(frame.format)) {
      square.x -= square.x % 2;
      square.y -= square.y % 2;
    }
    return crop(frame, {square.x, square.y, square.side, square.side});
  }
  const double across = static_cast<double>(square.side) / width;
  const double down = static_cast<double>(square.side) / height;
  warp(frame, {width, height, {across, 0, square.x + 0.5 * across - 0.5, 0, down, square.y + 0.5 * down - 0.5}},
       pixels_.data());
  return view_of(RgbView{pixels_.data(), 3 * width, width, height});
}

void TargetTracker::add(std::size_t /*i*/, const Result& predictions) {
  found_.reset();
  if (!predictions.detections.empty()) found_ = predictions.detections.front();
}

void TargetTracker::finish(Result& result) {
  result.detections.clear();
  if (is_first_) {
    found_ = Detection{.box = *box_, .class_name = vision_.card.head().labels.front(), .confidence = 1};
    is_first_ = false;
  } else if (found_) {
    move_to(*found_);
    found_->box = *box_;
  }
  if (found_) result.detections.push_back(*found_);
}

/// FOUND's box is on the tile.
void TargetTracker::move_to(const Detection& found) {
  const float across = static_cast<float>(place_.side) / static_cast<float>(tile_.width);
  const float down = static_cast<float>(place_.side) / static_cast<float>(tile_.height);
  const auto& [x1, y1, x2, y2] = found.box;
  const auto left = static_cast<float>(place_.x);
  const auto top = static_cast<float>(place_.y);
  box_ = clipped({left + x1 * across, top + y1 * down, left + x2 * across, top + y2 * down}, frame_size_);
}

}  // namespace saccade
