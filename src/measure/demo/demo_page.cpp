#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "measure/demo/demo_report.hpp"
#include "measure/demo/demo_tables.hpp"
#include "measure/profile/profile_sections.hpp"
#include "saccade/version.hpp"

namespace saccade {
namespace {

constexpr std::size_t kLaunches = 12;

PageImage image(const std::filesystem::path& folder, const std::string& file, const std::string& description,
                const std::string& caption) {
  std::ifstream stream(folder / file, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  if (!stream) fail(ErrorCode::kIo, "{}: can't be read", (folder / file).string());
  return {.bytes = bytes.str(), .description = description, .caption = caption};
}

void add_tiles(Page& page, const DemoResult& result) {
  const Profile& profile = result.profile;
  const SceneScores& scores = result.scores;
  page.tile({"AP50 of boxes", score_text(scores.boxes.ap50),
             fmt::format("against the ground truth of {} frames; AP {}", profile.frames, score_text(scores.boxes.ap))});
  if (scores.masks)
    page.tile({"AP50 of masks", score_text(scores.masks->ap50), fmt::format("AP {}", score_text(scores.masks->ap))});
  if (scores.depth)
    page.tile({"Depth", percent_text(scores.depth->abs_rel),
               fmt::format("mean relative error (AbsRel), up to {} m; {} of the pixels within a ratio of 1.25 (delta1)",
                           kSceneDepth, percent_text(scores.depth->delta1))});
  if (scores.place) page.tile({"Place", percent_text(*scores.place), "top-1 of the scene class"});
  page.tile({"Rate", fmt::format("{} fps", number_text(profile.frames_per_second)),
             "including scene, model, video and JSON lines"});
  page.tile({"Median latency", duration_text(profile.frame_time.p50),
             fmt::format("from frame to predictions; p99 {}", duration_text(profile.frame_time.p99))});
  for (const StageProfile& stage : profile.stages)
    if (stage.name == "model" && stage.bound)
      page.tile(
          {"Model headroom", percent_text(stage.headroom),
           fmt::format("roofline bound {}, limited by {}", duration_text(stage.bound->time), stage.bound->limiter)});
}

void add_images(Page& page, const DemoResult& result, const std::filesystem::path& folder) {
  page.section("Sample frames");
  page.text(fmt::format(
      "{} is procedural: the place, the light and every object follow from the seed, so that the ground truth of every "
      "pixel is known. The model was trained on other seeds. The images show its predictions, as in the video.",
      result.profile.source));
  std::vector<PageImage> images;
  for (const std::string& file : result.images)
    images.push_back(image(folder, file, "A frame of the scene with the model's predictions", ""));
  page.images(images);
}

void add_accuracy(Page& page, const DemoResult& result, const std::filesystem::path& folder) {
  page.section("Accuracy");
  ShareBars bars{.title = "AP50 by class", .bars = {}};
  for (const auto& [name, boxes, masks] : result.classes)
    if (boxes.objects > 0)
      bars.bars.push_back({name,
                           fmt::format("{} objects, AP {}{}", boxes.objects, score_text(boxes.ap),
                                       masks ? fmt::format(", of masks {}", score_text(masks->ap)) : std::string()),
                           boxes.ap50});
  page.chart(bars, "COCO's definition. Objects with a visible share below 0.3 or a side below 8 pixels are ignored.");
  if (result.scores.masks || result.scores.depth)
    page.text(fmt::format(
        "Masks and depth are evaluated on at most {} frames, spread evenly over the run. Depth is evaluated where the "
        "true depth is below {} metres: AbsRel is the mean of |depth - truth| / truth per frame.",
        PredictedFrames::kMostMaps, kSceneDepth));
  if (result.conditions.empty()) return;
  page.table(conditions_table(result));
  std::vector<PageImage> images;
  for (const ConditionScores& each : result.conditions)
    if (!each.image.empty())
      images.push_back(image(folder, each.image, "A frame under the condition " + each.name,
                             fmt::format("{}: AP50 {}", each.name, score_text(each.scores.boxes.ap50))));
  page.images(images);
}

}  // namespace

Page to_page(const DemoResult& result, const std::filesystem::path& folder) {
  const Profile& profile = result.profile;
  Page page("Saccade demo", fmt::format("{} on {}, {} threads; {} frames of {}x{}; Saccade {}", profile.model,
                                        profile.plan->backend().device_name(), profile.plan->threads(), profile.frames,
                                        result.width, result.height, version()));
  add_tiles(page, result);
  page.lead(profile.bottleneck.sentence);
  add_images(page, result, folder);
  add_accuracy(page, result, folder);
  add_latency(page, profile);
  add_launches(page, profile, kLaunches);
  add_gaps(page, profile);
  add_method(page, profile);
  return page;
}

}  // namespace saccade
