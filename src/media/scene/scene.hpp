#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "scene/options.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// The names of the object classes, by class id.
std::span<const std::string_view> scene_classes();
/// The names of the places.
std::span<const std::string_view> scene_places();

/// One object with at least one visible pixel. Boxes are tight around the visible pixels; x2 and y2 are exclusive.
struct SceneObject {
  std::int32_t identity = 0;  ///< unique from entering to leaving; positive, never reused
  int class_id = 0;
  int x1 = 0;
  int y1 = 0;
  int x2 = 0;
  int y2 = 0;
  std::int64_t visible_pixels = 0;
  float visible_share = 0;  ///< of its whole silhouette, inside and outside the frame
  float depth = 0;          ///< metres from the camera's plane to the object's centre
  bool ignore = false;      ///< too little is visible to evaluate a prediction: see is_ignored()
};

/// The rule for SceneObject::ignore: less than 0.3 of the silhouette is visible, or the box's shorter side is below 8
/// pixels.
constexpr bool is_ignored(const SceneObject& object) {
  return object.visible_share < 0.3F || object.x2 - object.x1 < 8 || object.y2 - object.y1 < 8;
}

/// The ground truth of one frame, at the middle of its exposure.
struct SceneTruth {
  std::int64_t frame = -1;
  int width = 0;
  int height = 0;
  int place = 0;  ///< index into scene_places()
  float night = 0;
  float blur = 0;
  float noise = 0;
  std::vector<SceneObject> objects;      ///< by identity
  std::vector<std::int32_t> identities;  ///< height x width: identity of the visible object; 0: none
  std::vector<float> depth;              ///< height x width, metres along the camera's axis; infinite in the sky
};

/// A street, meadow, desert or snow field with moving objects, seen by a moving camera: a pure function of the options
/// and the frame's number, bit-identical on every x86-64 machine. One thread at a time.
class Scene {
 public:
  /// Throws Error (kInvalidArgument) if an option is out of range.
  explicit Scene(const SceneOptions& options);
  Scene(Scene&&) noexcept;
  Scene& operator=(Scene&&) noexcept;
  ~Scene();

  const SceneOptions& options() const noexcept;
  /// Draws frame FRAME (0 and up, in any order) into OUT, of the options' size. Does not allocate after the first
  /// frames.
  void render(std::int64_t frame, const RgbView& out);
  /// The ground truth of frame FRAME, from its geometry alone; valid until the next call.
  const SceneTruth& truth(std::int64_t frame);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade
