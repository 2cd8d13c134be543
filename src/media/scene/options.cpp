#include "scene/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/uri_options.hpp"
#include "scene/scene.hpp"

namespace saccade {
namespace {

constexpr std::string_view kPrefix = "synthetic:";

constexpr std::string_view kHelp =
    "seed=N, size=WxH, fps=N, objects=N, frames=N, place=NAME, night=0..1, blur=0..1, noise=0..1";

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view wanted) {
  fail(ErrorCode::kInvalidArgument, "synthetic: '{}={}': {} must be {}; the options are {}", name, value, name, wanted,
       kHelp);
}

/// Parses all of TEXT as a number from LOW to HIGH (neither is NaN).
template <typename T>
bool read(std::string_view text, T low, T high, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= low && value <= high;
}

void read_size(std::string_view value, SceneOptions& options) {
  const std::size_t at = value.find('x');
  if (at == std::string_view::npos || !read(value.substr(0, at), 16, 8192, options.width) ||
      !read(value.substr(at + 1), 16, 8192, options.height))
    refuse("size", value, "WIDTHxHEIGHT, each from 16 to 8192");
}

void read_place(std::string_view value, SceneOptions& options) {
  const auto places = scene_places();
  const auto found = std::ranges::find(places, value);
  if (found == places.end()) refuse("place", value, fmt::format("one of {}", fmt::join(places, ", ")));
  options.place = static_cast<int>(found - places.begin());
}

void read_share(std::string_view name, std::string_view value, std::optional<float>& share) {
  float number = 0;
  if (!read(value, 0.0F, 1.0F, number)) refuse(name, value, "a number from 0 to 1");
  share = number;
}

void read_option(std::string_view name, std::string_view value, SceneOptions& options) {
  if (name == "seed") {
    if (!read<std::uint64_t>(value, 0, UINT64_MAX, options.seed))
      refuse(name, value, fmt::format("an integer from 0 to {}", UINT64_MAX));
  } else if (name == "size") {
    read_size(value, options);
  } else if (name == "fps") {
    if (!read(value, 0.1, 1000.0, options.fps)) refuse(name, value, "a number from 0.1 to 1000");
  } else if (name == "objects") {
    if (!read(value, 0, 500, options.objects)) refuse(name, value, "an integer from 0 to 500");
  } else if (name == "frames") {
    if (!read<std::int64_t>(value, 1, kMostFrames, options.frames))
      refuse(name, value, "an integer from 1 to 1000000000");
  } else if (name == "place") {
    read_place(value, options);
  } else if (name == "night") {
    read_share(name, value, options.night);
  } else if (name == "blur") {
    read_share(name, value, options.blur);
  } else if (name == "noise") {
    read_share(name, value, options.noise);
  } else {
    fail(ErrorCode::kInvalidArgument, "synthetic: there is no option '{}'; the options are {}", name, kHelp);
  }
}

}  // namespace

bool is_scene(std::string_view uri) { return uri.starts_with(kPrefix); }

SceneOptions parse_scene(std::string_view uri) {
  if (!is_scene(uri))
    fail(ErrorCode::kInvalidArgument, "'{}' is not a scene: use synthetic: or synthetic:?NAME=VALUE&...", uri);
  SceneOptions options;
  std::string_view rest = uri.substr(kPrefix.size());
  if (rest.empty()) return options;
  if (rest.front() != '?')
    fail(ErrorCode::kInvalidArgument, "'{}': use synthetic:?NAME=VALUE&...; the options are {}", uri, kHelp);
  rest.remove_prefix(1);
  for (const UriOption& option : split_uri_options(rest, "synthetic", fmt::format("the options are {}", kHelp)))
    read_option(option.name, option.value, options);
  return options;
}

std::string to_uri(const SceneOptions& options) {
  std::string uri = fmt::format("{}?seed={}&size={}x{}&fps={}&objects={}", kPrefix, options.seed, options.width,
                                options.height, options.fps, options.objects);
  if (options.frames >= 0) uri += fmt::format("&frames={}", options.frames);
  if (options.place) uri += fmt::format("&place={}", scene_places()[static_cast<std::size_t>(*options.place)]);
  if (options.night) uri += fmt::format("&night={}", *options.night);
  if (options.blur) uri += fmt::format("&blur={}", *options.blur);
  if (options.noise) uri += fmt::format("&noise={}", *options.noise);
  return uri;
}

}  // namespace saccade
