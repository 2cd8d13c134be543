#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace saccade {

/// Maximum number of frames.
inline constexpr std::int64_t kMostFrames = 1'000'000'000;

/// The options of `synthetic:?...`. A frame is a function of these and its number alone.
struct SceneOptions {
  std::uint64_t seed = 1;
  int width = 640;             ///< pixels, 16 to 8192
  int height = 480;            ///< pixels, 16 to 8192
  double fps = 30;             ///< frames per second of the scene's own clock
  int objects = 16;            ///< moving at a time, 0 to 500; some of them out of view
  std::int64_t frames = -1;    ///< length of the source; -1: unlimited
  std::optional<int> place;    ///< an index into scene_places(); unset: the seed chooses
  std::optional<float> night;  ///< 0 (day) to 1; unset: the light changes with time
  std::optional<float> blur;   ///< 0 to 1: exposure as a share of 0.2 s; unset: changes with time
  std::optional<float> noise;  ///< 0 to 1: of a standard deviation of 20 grey levels; unset: little, more at night
};

/// Whether URI is a synthetic scene.
bool is_scene(std::string_view uri);

/// Parses "synthetic:" or "synthetic:?NAME=VALUE&...". Throws Error (kInvalidArgument) naming the option and its valid
/// values.
SceneOptions parse_scene(std::string_view uri);

/// OPTIONS as a URI that parse_scene() accepts.
std::string to_uri(const SceneOptions& options);

}  // namespace saccade
