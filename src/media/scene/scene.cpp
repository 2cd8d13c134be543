#include "scene/scene.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "scene/state.hpp"

namespace saccade {
namespace {

constexpr std::array<std::string_view, scene::kKinds> kClasses = {"ball", "crate", "cone",   "barrel",
                                                                  "tyre", "car",   "person", "drone"};
constexpr std::array<std::string_view, 4> kPlaces = {"street", "meadow", "desert", "snow"};

void check(const SceneOptions& options) {
  const auto is_share = [](const std::optional<float>& share) { return !share || (*share >= 0 && *share <= 1); };
  const auto is_side = [](int side) { return side >= 16 && side <= 8192; };
  if (!is_side(options.width) || !is_side(options.height))
    fail(ErrorCode::kInvalidArgument, "a scene of {}x{} pixels can't be rendered; each side must be 16 to 8192",
         options.width, options.height);
  if (options.objects < 0 || options.objects > 500)
    fail(ErrorCode::kInvalidArgument, "a scene has 0 to 500 objects, not {}", options.objects);
  if (!(options.fps >= 0.1 && options.fps <= 1000))
    fail(ErrorCode::kInvalidArgument, "a scene has 0.1 to 1000 frames per second, not {}", options.fps);
  if (options.place && (*options.place < 0 || *options.place >= static_cast<int>(kPlaces.size())))
    fail(ErrorCode::kInvalidArgument, "a scene's place is 0 to {}, not {}", kPlaces.size() - 1, *options.place);
  if (!is_share(options.night) || !is_share(options.blur) || !is_share(options.noise))
    fail(ErrorCode::kInvalidArgument, "a scene's night, blur and noise are 0 to 1");
}

}  // namespace

std::span<const std::string_view> scene_classes() { return kClasses; }
std::span<const std::string_view> scene_places() { return kPlaces; }

Scene::State::State(const SceneOptions& given)
    : options(given),
      maker(given),
      canvas(given.width, given.height),
      shadow{given.width, given.height, {}},
      patterns(scene::make_patterns()) {
  shadow.bytes.resize(canvas.nearness.size());
}

void Scene::State::clear() {
  std::fill(canvas.nearness.begin(), canvas.nearness.end(), 0.0F);
  std::fill(canvas.instance.begin(), canvas.instance.end(), std::uint16_t{0});
}

Scene::Scene(const SceneOptions& options) {
  check(options);
  state_ = std::make_unique<State>(options);
}
Scene::Scene(Scene&&) noexcept = default;
Scene& Scene::operator=(Scene&&) noexcept = default;
Scene::~Scene() = default;

const SceneOptions& Scene::options() const noexcept { return state_->options; }

void Scene::render(std::int64_t frame, const RgbView& out) {
  SACCADE_ASSERT(out.width == state_->options.width && out.height == state_->options.height);
  SACCADE_ASSERT(frame >= 0 && frame <= kMostFrames);
  state_->render(frame, out);
}

const SceneTruth& Scene::truth(std::int64_t frame) {
  SACCADE_ASSERT(frame >= 0 && frame <= kMostFrames);
  state_->find_truth(frame);
  return state_->truth;
}

}  // namespace saccade
