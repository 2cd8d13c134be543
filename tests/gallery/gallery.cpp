// Draws the images of docs/drawing.md: a frame of the synthetic scene for every kind of prediction, derived from the
// scene's ground truth:
//   gallery FOLDER
// Review them after a change of the drawing.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/module.hpp"
#include "media/frame_reader.hpp"
#include "saccade/error.hpp"
#include "scene/scene.hpp"
#include "upscaled.hpp"
#include "vision/drawer.hpp"

namespace {

using namespace saccade;

/// Predictions for a frame of the scene, and the data that they reference.
class Predictions {
 public:
  explicit Predictions(const SceneTruth& truth) : truth_(truth) {
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

  /// People in a walking pose.
  void add_skeletons(Result& result) {
    constexpr float kFigure[17][2] = {{.5F, .09F},  {.53F, .07F}, {.47F, .07F}, {.57F, .08F}, {.43F, .08F},
                                      {.66F, .22F}, {.34F, .22F}, {.78F, .36F}, {.22F, .36F}, {.84F, .5F},
                                      {.18F, .5F},  {.6F, .54F},  {.4F, .54F},  {.66F, .75F}, {.36F, .75F},
                                      {.7F, .95F},  {.28F, .95F}};
    add_people(result);
    for (Detection& person : result.detections) put(person, kFigure);
  }

  /// Faces at the people's heads.
  void add_landmarks(Result& result) {
    constexpr float kFace[5][2] = {{.33F, .4F}, {.67F, .4F}, {.5F, .58F}, {.37F, .76F}, {.63F, .76F}};
    add_people(result);
    for (Detection& face : result.detections) {
      auto& [x1, y1, x2, y2] = face.box;
      const float centre = (x1 + x2) / 2;
      const float size = 0.15F * (y2 - y1);
      face.box = {centre - size / 2, y1, centre + size / 2, y1 + size};
      face.class_name = "face";
      put(face, kFace);
    }
  }

  void add_oriented_boxes(Result& result) const {
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

  /// The plates of cars are read, people are classified.
  void add_second_models(Result& result) const {
    static constexpr std::string_view kPlates[] = {"SA 2026", "CC 417", "AD 1995", "E 12", "KA 505", "MX 88"};
    static constexpr Classification kPoses[] = {{1, "walking", 0.93F}, {2, "standing", 0.71F}, {1, "walking", 0.88F}};
    add_boxes(result);
    std::size_t cars = 0;
    std::size_t people = 0;
    for (Detection& object : result.detections) {
      if (object.class_name == "car") {
        object.text = kPlates[cars++ % std::size(kPlates)];
        object.text_confidence = 0.98F - 0.03F * static_cast<float>(cars);
      } else if (object.class_name == "person") {
        object.classes = {&kPoses[people++ % std::size(kPoses)], 1};
      }
    }
  }

  /// A line across the road and an area beside it.
  void add_zones(Result& result) const {
    static constexpr ZonePoint kLine[] = {{120, 420}, {820, 330}};
    static constexpr ZonePoint kArea[] = {{520, 380}, {900, 360}, {930, 520}, {560, 530}};
    static const ZoneState kZones[] = {
        {.name = "entrance", .kind = ZoneKind::kLine, .points = kLine, .in = 12, .out = 3},
        {.name = "square", .kind = ZoneKind::kArea, .points = kArea, .in = 9, .out = 6, .inside = 3}};
    add_boxes(result);
    result.zones = kZones;
  }

  /// Copies of an object side by side.
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
  void add_people(Result& result) const {
    for (const Detection& object : objects_)
      if (object.class_name == "person") result.detections.push_back(object);
  }

  /// PLACES are normalized to the object's box.
  template <std::size_t N>
  void put(Detection& object, const float (&places)[N][2]) {
    std::vector<Keypoint>& points = points_.emplace_back();
    const auto& [x1, y1, x2, y2] = object.box;
    for (const auto& at : places) points.push_back({x1 + at[0] * (x2 - x1), y1 + at[1] * (y2 - y1), 0.9F});
    object.keypoints = points;
  }

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
  std::deque<std::vector<Keypoint>> points_;
  std::vector<std::int32_t> ids_;
};

/// An image's file and its contents.
struct Page {
  const char* name;
  void (*add)(Predictions&, Result&);
};

constexpr Page kByDay[] = {
    {"boxes.jpg", [](Predictions& predictions, Result& result) { predictions.add_boxes(result); }},
    {"skeletons.jpg", [](Predictions& predictions, Result& result) { predictions.add_skeletons(result); }},
    {"landmarks.jpg", [](Predictions& predictions, Result& result) { predictions.add_landmarks(result); }},
    {"oriented_boxes.jpg", [](Predictions& predictions, Result& result) { predictions.add_oriented_boxes(result); }},
    {"class_map.jpg", [](Predictions& predictions, Result& result) { predictions.add_class_map(result); }},
    {"depth.jpg", [](Predictions& predictions, Result& result) { predictions.add_depth(result); }},
    {"classes.jpg", [](Predictions& predictions, Result& result) { predictions.add_classes(result); }},
    {"second_models.jpg", [](Predictions& predictions, Result& result) { predictions.add_second_models(result); }},
    {"zones.jpg", [](Predictions& predictions, Result& result) { predictions.add_zones(result); }},
    {"crowd.jpg", [](Predictions& predictions, Result& result) { predictions.add_crowd(result); }},
};
constexpr Page kAtNight[] = {
    {"masks_night.jpg", [](Predictions& predictions, Result& result) { predictions.add_masks(result); }},
    {"everything_night.jpg",
     [](Predictions& predictions, Result& result) {
       predictions.add_class_map(result);
       predictions.add_masks(result);
       predictions.add_depth(result);
       predictions.add_classes(result);
     }},
};

/// NIGHT: 0 day to 1 night.
void draw(const std::filesystem::path& folder, float night, std::span<const Page> pages) {
  constexpr int kWidth = 960;
  constexpr int kHeight = 540;
  constexpr int kPitch = 3 * kWidth;
  constexpr std::int64_t kFrame = 900;
  Scene scene(
      {.seed = 13, .width = kWidth, .height = kHeight, .objects = 40, .place = 1, .night = night, .blur = 0.0F});
  std::vector<std::uint8_t> frame(std::size_t{kPitch} * kHeight);
  scene.render(kFrame, {frame.data(), kPitch, kWidth, kHeight});
  Predictions predictions(scene.truth(kFrame));
  for (const Page& page : pages) {
    std::vector<std::uint8_t> copy = frame;
    const RgbView view{copy.data(), kPitch, kWidth, kHeight};
    Result result = predictions.result();
    page.add(predictions, result);
    module<DrawModule>("draw").make_drawer()->draw(result, view);
    write_image((folder / page.name).string(), view_of(view));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: gallery FOLDER") < 0 ? 1 : 2;
  try {
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    draw(folder, 0, kByDay);
    draw(folder, 0.9F, kAtNight);
    draw_upscaled((folder / "upscaled.jpg").string());
  } catch (const Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
