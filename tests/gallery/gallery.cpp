// Draws one frame of the synthetic scene for every kind of answer, made up from the scene's truth:
//   gallery FOLDER [night]
// Look at them after a change of the drawing; docs/ shows some.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <numbers>
#include <string>

#include "base/module.hpp"
#include "media/source.hpp"
#include "saccade/error.hpp"
#include "scene/scene.hpp"
#include "vision/drawer.hpp"

namespace {

using namespace saccade;

/// What can be said of a frame of the scene, and what it points to.
class Answers {
 public:
  explicit Answers(const SceneTruth& truth) : truth_(truth) {
    for (const SceneObject& object : truth.objects) {
      if (object.ignore) continue;
      collect_runs(object.identity);
      Detection& found = objects_.emplace_back();
      found.box = {static_cast<float>(object.x1), static_cast<float>(object.y1), static_cast<float>(object.x2),
                   static_cast<float>(object.y2)};
      found.class_id = object.class_id;
      found.class_name = scene_classes()[static_cast<std::size_t>(object.class_id)];
      found.confidence = 0.55F + 0.4F * object.visible_share;
      runs_of_.push_back(&runs_[object.identity]);
      areas_.push_back(object.visible_pixels);
    }
  }

  Result result() const {
    Result result;
    result.name = "frame.png";
    result.width = truth_.width;
    result.height = truth_.height;
    return result;
  }

  void add_boxes(Result& result) const { result.detections = objects_; }

  void add_masks(Result& result) const {
    add_boxes(result);
    for (std::size_t i = 0; i < objects_.size(); ++i) result.detections[i].mask = Mask{*runs_of_[i], areas_[i]};
  }

  /// A figure in walking pose, for people; five landmarks, as of a face, for all else.
  void add_keypoints(Result& result, std::size_t count) {
    constexpr float kFigure[17][2] = {{.5F, .08F},  {.54F, .06F}, {.46F, .06F}, {.6F, .08F},  {.4F, .08F}, {.7F, .22F},
                                      {.3F, .22F},  {.85F, .38F}, {.12F, .36F}, {.7F, .5F},   {.25F, .5F}, {.63F, .54F},
                                      {.37F, .54F}, {.75F, .75F}, {.3F, .75F},  {.85F, .97F}, {.15F, .95F}};
    constexpr float kFace[5][2] = {{.35F, .4F}, {.65F, .4F}, {.5F, .58F}, {.38F, .75F}, {.62F, .75F}};
    add_boxes(result);
    points_.resize(objects_.size());
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      const auto& box = objects_[i].box;
      points_[i].clear();
      for (std::size_t k = 0; k < count; ++k) {
        const float* at = count == 17 ? kFigure[k] : kFace[k];
        points_[i].push_back({box[0] + at[0] * (box[2] - box[0]), box[1] + at[1] * (box[3] - box[1]), 0.9F});
      }
      result.detections[i].keypoints = points_[i];
    }
  }

  void add_turned_boxes(Result& result) const {
    add_boxes(result);
    float angle = 0.2F;
    for (Detection& object : result.detections) {
      const auto& box = object.box;
      object.oriented =
          OrientedBox{(box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[2] - box[0], 0.6F * (box[3] - box[1]), angle};
      angle += 0.5F;
    }
  }

  void add_class_map(Result& result) {
    constexpr int kCell = 2;
    constexpr std::string_view kNames[] = {"sky", "ground"};
    const int columns = truth_.width / kCell;
    const int rows = truth_.height / kCell;
    std::map<std::int32_t, int> class_of;
    for (const SceneObject& object : truth_.objects) class_of[object.identity] = object.class_id + 2;
    std::map<int, std::int64_t> pixels;
    ids_.clear();
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        const auto at = static_cast<std::size_t>(y * kCell * truth_.width + x * kCell);
        const std::int32_t identity = truth_.identities[at];
        ids_.push_back(identity > 0 ? class_of[identity] : std::isinf(truth_.depth[at]) ? 0 : 1);
        pixels[ids_.back()] += kCell * kCell;
      }
    result.class_map = {{columns, rows, 1.0 / kCell, 1.0 / kCell, 0, 0, {0, 0, truth_.width, truth_.height}}, ids_};
    for (const auto& [id, count] : pixels)
      result.segments.push_back({id, id < 2 ? kNames[id] : scene_classes()[static_cast<std::size_t>(id) - 2], count});
    std::ranges::sort(result.segments, std::greater(), &Segment::pixels);
  }

  void add_depth(Result& result) const {
    result.depth.place = {truth_.width, truth_.height, 1, 1, 0, 0, {0, 0, truth_.width, truth_.height}};
    result.depth.kind = DepthKind::kMetric;
    result.depth.cells = truth_.depth;
  }

  void add_classes(Result& result) const {
    result.classes = {{3, "street", 0.83F}, {17, "parking lot", 0.09F}, {5, "bridge", 0.03F}};
  }

  /// Many of an object beside each other.
  void add_crowd(Result& result) const {
    const auto objects = objects_;
    for (int i = 0; i < 6; ++i)
      for (Detection object : objects) {
        for (std::size_t k = 0; k < 4; ++k) object.box[k] += static_cast<float>(9 * i) * (k % 2 == 0 ? 1.0F : 0.6F);
        object.class_id += i;
        result.detections.push_back(object);
      }
  }

 private:
  void collect_runs(std::int32_t identity) {
    std::vector<MaskRun>& runs = runs_[identity];
    for (int y = 0; y < truth_.height; ++y) {
      const std::int32_t* row = truth_.identities.data() + static_cast<std::ptrdiff_t>(y) * truth_.width;
      for (int x = 0; x < truth_.width; ++x) {
        if (row[x] != identity) continue;
        if (!runs.empty() && runs.back().y == y && runs.back().x2 == x)
          ++runs.back().x2;
        else
          runs.push_back({y, x, x + 1});
      }
    }
  }

  const SceneTruth& truth_;
  std::map<std::int32_t, std::vector<MaskRun>> runs_;
  std::vector<const std::vector<MaskRun>*> runs_of_;
  std::vector<std::int64_t> areas_;
  std::vector<Detection> objects_;
  std::vector<std::vector<Keypoint>> points_;
  std::vector<std::int32_t> ids_;
};

void draw_all(const std::filesystem::path& folder, bool is_night) {
  Scene scene({.seed = 7, .width = 960, .height = 540, .objects = 22, .place = 0, .night = is_night ? 0.9F : 0.0F});
  constexpr std::int64_t kFrame = 400;
  constexpr int kPitch = 3 * 960;
  std::vector<std::uint8_t> frame(static_cast<std::size_t>(kPitch) * 540);
  scene.render(kFrame, {frame.data(), kPitch, 960, 540});
  Answers answers(scene.truth(kFrame));

  using Add = std::function<void(Result&)>;
  const std::map<std::string, Add> pictures = {
      {"boxes", [&](Result& r) { answers.add_boxes(r); }},
      {"masks", [&](Result& r) { answers.add_masks(r); }},
      {"skeletons", [&](Result& r) { answers.add_keypoints(r, 17); }},
      {"landmarks", [&](Result& r) { answers.add_keypoints(r, 5); }},
      {"turned_boxes", [&](Result& r) { answers.add_turned_boxes(r); }},
      {"class_map", [&](Result& r) { answers.add_class_map(r); }},
      {"depth", [&](Result& r) { answers.add_depth(r); }},
      {"classes", [&](Result& r) { answers.add_classes(r); }},
      {"crowd", [&](Result& r) { answers.add_crowd(r); }},
      {"everything",
       [&](Result& r) {
         answers.add_class_map(r);
         answers.add_masks(r);
         answers.add_depth(r);
         answers.add_classes(r);
       }},
  };
  for (const auto& [name, add] : pictures) {
    std::vector<std::uint8_t> copy = frame;
    const RgbView view{copy.data(), kPitch, 960, 540};
    Result result = answers.result();
    add(result);
    module<DrawModule>("draw").make_drawer()->draw(result, view);
    write_image((folder / (name + (is_night ? "_night" : "") + ".png")).string(), view_of(view));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: gallery FOLDER [night]") < 0 ? 1 : 2;
  try {
    std::filesystem::create_directories(argv[1]);
    draw_all(argv[1], argc > 2);
  } catch (const Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
