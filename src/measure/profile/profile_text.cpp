#include <fmt/format.h>

#include <algorithm>

#include "measure/profile/profile_report.hpp"
#include "measure/profile/profile_tables.hpp"
#include "measure/report/terminal_histogram.hpp"
#include "measure/report/terminal_text.hpp"

namespace saccade {
namespace {

constexpr int kRows = 20;

ReportText head_text(const Profile& profile) {
  const std::string source =
      profile.source.empty() ? "random tensors" : fmt::format("{}, {}", profile.source, profile.frame);
  ReportText text = report_text("model       {}, {} launches\n", profile.model, profile.launches.size());
  if (profile.second)
    text += report_text("second      {}, {} launches, {} crops per frame\n", profile.second->model,
                        profile.second->launches.size(), number_text(profile.second->crops));
  text += report_text("source      {}\n", source);
  text += report_text("machine     {}, {} threads\n", profile.plan->backend().device_name(), profile.plan->threads());
  return text + report_text("frames      {} in {}, {} per second, after {} warm-up frames\n", profile.frames,
                            duration_text(profile.elapsed), number_text(profile.frames_per_second), profile.warm_up);
}

}  // namespace

ReportText to_text(const Profile& profile, const TextOptions& options) {
  const auto launches = longest_launches(profile.launches, options.launches);
  ReportText text = head_text(profile) + "\n" + to_text(stages_table(profile));
  if (!launches.empty())
    text += report_text("\nthe {} longest of {} launches\n{}", launches.size(), profile.launches.size(),
                        to_text(launches_table(launches)));
  if (profile.second && !profile.second->launches.empty())
    text += report_text("\nthe longest of {} launches of {} on a crop\n{}", profile.second->launches.size(),
                        profile.second->model,
                        to_text(launches_table(longest_launches(profile.second->launches, options.launches))));
  text += "\nidle time per frame\n" + to_text(gaps_table(profile));
  text += report_text("\n{}\n", profile.source.empty() ? "time of a run" : "from capture to result");
  text += terminal_histogram(shape_of(profile.latency, kRows), options.is_utf8);
  text +=
      "\n" + wrap("profiler", overhead_text(profile.overhead)) + "\n" + wrap("bottleneck", profile.bottleneck.sentence);
  if (const std::string ceilings = ceilings_text(profile); !ceilings.empty()) text += "\n" + wrap("ceilings", ceilings);
  return options.is_utf8 ? text : with_ascii_units(text);
}

}  // namespace saccade
