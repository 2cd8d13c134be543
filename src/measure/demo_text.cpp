#include <fmt/format.h>

#include "measure/demo_report.hpp"
#include "measure/demo_tables.hpp"
#include "measure/profile_tables.hpp"
#include "measure/terminal_text.hpp"

namespace saccade {

std::string to_text(const DemoResult& result, bool is_utf8) {
  const Profile& profile = result.profile;
  std::string text = fmt::format("model       {}\n", profile.model);
  text += fmt::format("scene       {}, {}x{}\n", profile.source, result.width, result.height);
  text += fmt::format("machine     {}, {} threads\n", profile.plan->backend().device_name(), profile.plan->threads());
  text += fmt::format("rate        {:.1f} frames a second: {} in {}, video and JSON lines included\n",
                      profile.frames_per_second, profile.frames, duration_text(profile.elapsed));
  text += fmt::format("latency     {} p50, {} p99 from frame to boxes\n", duration_text(profile.frame_time.p50),
                      duration_text(profile.frame_time.p99));
  text += fmt::format("accuracy    AP50 {}, AP {} against the scene's truth\n\n", score_text(result.scores.ap50),
                      score_text(result.scores.ap));
  text += to_text(stages_table(profile)) + "\n";
  text +=
      wrap("headroom",
           "is the share of a stage's median that no bound explains. A bound is the time that its arithmetic or its "
           "bytes need at least, at the most that this machine did of them.");
  text += wrap("bottleneck", profile.bottleneck.sentence);
  text += "\n" + to_text(classes_table(result));
  if (!result.conditions.empty()) text += "\n" + to_text(conditions_table(result));
  return is_utf8 ? text : with_ascii_units(text);
}

}  // namespace saccade
