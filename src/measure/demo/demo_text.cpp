#include <fmt/format.h>

#include "measure/demo/demo_report.hpp"
#include "measure/demo/demo_tables.hpp"
#include "measure/profile/profile_tables.hpp"
#include "measure/report/terminal_text.hpp"

namespace saccade {
namespace {

ReportText accuracy_text(const SceneScores& scores) {
  const auto average = [](const DetectionScores& of) {
    return fmt::format("AP50 {}, AP {}", score_text(of.ap50), score_text(of.ap));
  };
  ReportText text = report_text("accuracy    boxes: {} against the ground truth\n", average(scores.boxes));
  const auto add = [&](const std::string& line) { text.add("{:12}{}\n", "", line); };
  if (scores.masks) add("masks: " + average(*scores.masks));
  if (scores.depth)
    add(fmt::format("depth: AbsRel {}, delta1 {}, up to {} m", score_text(scores.depth->abs_rel),
                    score_text(scores.depth->delta1), kSceneDepth));
  if (scores.place) add(fmt::format("scene class: top-1 {}", score_text(*scores.place)));
  return text;
}

}  // namespace

ReportText to_text(const DemoResult& result, bool is_utf8) {
  const Profile& profile = result.profile;
  ReportText text = report_text("model       {}\n", profile.model);
  text += report_text("scene       {}, {}x{}\n", profile.source, result.width, result.height);
  text += report_text("machine     {}, {} threads\n", profile.plan->backend().device_name(), profile.plan->threads());
  text += report_text("rate        {:.1f} frames per second: {} in {}, including video and JSON lines\n",
                      profile.frames_per_second, profile.frames, duration_text(profile.elapsed));
  text += report_text("latency     {} p50, {} p99 from frame to predictions\n", duration_text(profile.frame_time.p50),
                      duration_text(profile.frame_time.p99));
  text += accuracy_text(result.scores) + "\n";
  text += to_text(stages_table(profile)) + "\n";
  text += wrap("headroom",
               "is the share of a stage's median that its roofline bound does not explain. The bound is the least time "
               "for its operations or bytes at this machine's measured peak.");
  text += wrap("bottleneck", profile.bottleneck.sentence);
  text += "\n" + to_text(classes_table(result));
  if (!result.conditions.empty()) text += "\n" + to_text(conditions_table(result));
  return is_utf8 ? text : with_ascii_units(text);
}

}  // namespace saccade
