#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "measure/profile/profile_report.hpp"
#include "measure/profile/profile_sections.hpp"
#include "measure/profile/profile_tables.hpp"

namespace saccade {
namespace {

constexpr std::size_t kGanttFrames = 4;

std::string number(std::int64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

/// A file's name without its folder; other sources unchanged.
std::string short_name(const std::string& source) {
  const std::string name = std::filesystem::path(source).filename().string();
  return source.starts_with("synthetic:") || name.empty() ? source : name;
}

std::string subtitle_of(const Profile& profile) {
  return fmt::format("{} frames{} on {}, {} threads", number(profile.frames),
                     profile.frame.empty() ? "" : fmt::format(" of {}", profile.frame),
                     profile.plan->backend().device_name(), profile.plan->threads());
}

void add_tiles(Page& page, const Profile& profile) {
  const Distribution& frame = profile.frame_time;
  page.tile({"Median frame", duration_text(frame.p50), fmt::format("p99 {}", duration_text(frame.p99))});
  page.tile({"Rate", fmt::format("{} fps", number_text(profile.frames_per_second)),
             fmt::format("over {}", duration_text(Nanoseconds(profile.elapsed)))});
  const Nanoseconds bound = profile.bounds.whole.time;
  if (bound.count() > 0) {
    page.tile({"Bound", duration_text(bound), "the least time that this machine needs for these launches"});
    page.tile({"Headroom", percent_text(headroom(bound, frame.p50)), "of the median that the bound does not explain"});
  }
  page.tile({"Profiling overhead", percent_text(profile.overhead.expected_share()), "of a frame"});
}

/// The index in the trace of the consecutive frames closest to the median.
std::size_t typical_frames(const Profile& profile, std::size_t count) {
  const auto& frames = profile.trace.frames;
  std::size_t best = 0;
  double least = INFINITY;
  for (std::size_t i = 0; i + count <= frames.size(); ++i) {
    double off = 0;
    for (std::size_t k = i; k < i + count; ++k) {
      const auto time = frames[k].times.finished - frames[k].times.started;
      off += std::abs(static_cast<double>((time - profile.frame_time.p50).count()));
    }
    if (off < least) least = off, best = i;
  }
  return best;
}

Gantt gantt_of(const Profile& profile) {
  const auto& frames = profile.trace.frames;
  const std::size_t count = std::min(kGanttFrames, frames.size());
  const std::size_t first = typical_frames(profile, count);
  Gantt chart{.title = fmt::format("{} typical consecutive frames", count), .lanes = {{"capture", {}}, {"models", {}}}};
  const Clock::time_point from = frames[first].times.started;
  const Clock::time_point to = frames[first + count - 1].times.finished;
  const auto span = [&](Clock::time_point start, Clock::time_point end, std::string name, std::string stage) {
    return GanttSpan{Nanoseconds(std::max(start, from) - from), Nanoseconds(std::min(end, to) - from), std::move(name),
                     std::move(stage)};
  };
  for (const FrameRecord& record : frames)
    if (!profile.source.empty() && record.times.captured > from && record.times.capture_start < to)
      chart.lanes[0].spans.push_back(
          span(record.times.capture_start, record.times.captured, std::to_string(record.frame), "capture"));
  for (std::size_t i = first; i < first + count; ++i) {
    const FrameRecord& record = frames[i];
    const auto pre = record.times.started + record.latency.pre;
    const auto post = record.times.finished - record.latency.post;
    if (record.latency.pre.count() > 0) chart.lanes[1].spans.push_back(span(record.times.started, pre, "", "pre"));
    chart.lanes[1].spans.push_back(span(pre, post, std::to_string(record.frame), "model"));
    if (record.latency.post.count() > 0) chart.lanes[1].spans.push_back(span(post, record.times.finished, "", "post"));
  }
  if (profile.source.empty()) chart.lanes.erase(chart.lanes.begin());
  return chart;
}

/// For a file only the models' part: its frames are captured concurrently and wait because they are read ahead.
StageTimeline timeline_of(const Profile& profile) {
  StageTimeline chart{"Stages over the run", {"capture", "queue", "pre", "model", "post"}, profile.timeline};
  if (profile.is_live) return chart;
  chart.stages.erase(chart.stages.begin(), chart.stages.begin() + 2);
  for (TimelineColumn& column : chart.columns) column.times.erase(column.times.begin(), column.times.begin() + 2);
  return chart;
}

BoundBars bars_of(const Profile& profile, std::size_t count) {
  BoundBars chart{.title = "The longest launches and their bounds", .bars = {}};
  for (const LaunchProfile* launch : longest_launches(profile.launches, count))
    chart.bars.push_back({.label = fmt::format("{} · {}", launch->step, launch->operation),
                          .note = launch->tactic,
                          .measured = launch->time.p50,
                          .bound = launch->bound.time});
  return chart;
}

Roofline roofline_of(const Profile& profile) {
  Roofline chart{.title = "Roofline"};
  for (const ComputeCeiling& ceiling : profile.ceilings.compute)
    if (ceiling.precision == OperandType::kFloat32) chart.compute.push_back({ceiling.instructions, ceiling.all});
  for (const MemoryCeiling& level : profile.ceilings.memory) chart.memory.push_back({level.level, level.all.most()});
  for (const LaunchProfile& launch : profile.launches) {
    const Work& work = launch.bound.work;
    const auto bytes = static_cast<double>(work.weight_bytes + work.activation_bytes());
    if (bytes <= 0 || launch.time.p50.count() <= 0) continue;
    chart.points.push_back({.name = fmt::format("{} {}", launch.step, launch.operation),
                            .intensity = work.operations / bytes,
                            .rate = work.operations / std::chrono::duration<double>(launch.time.p50).count(),
                            .time = launch.time.p50,
                            .stage = std::string(to_string(launch.stage))});
  }
  return chart;
}

}  // namespace

void add_latency(Page& page, const Profile& profile) {
  page.section("Latency");
  const Histogram& total = profile.latency;
  LatencyHistogram histogram{.title = profile.source.empty() ? "Time of a run" : "From capture to result",
                             .shape = shape_of(total, kShapeBins)};
  for (const double percent : {50.0, 90.0, 99.0})
    histogram.marks.push_back({fmt::format("p{:.0f}", percent), total.percentile(percent)});
  page.chart(histogram, profile.source.empty() || profile.is_live
                            ? ""
                            : "A source other than a camera is read ahead, so this includes the time in the queue.");
  page.table(stages_table(profile));
  page.chart(timeline_of(profile), profile.frames_a_column == 1
                                       ? "Each column is a frame."
                                       : fmt::format("Each column is the mean of {} frames.", profile.frames_a_column));
  if (!profile.trace.frames.empty())
    page.chart(gantt_of(profile), "The capture of later frames overlaps with the models.");
}

void add_launches(Page& page, const Profile& profile, std::size_t count) {
  page.section("Launches");
  page.chart(bars_of(profile, count),
             "Medians. The dark part of a bar is the roofline bound; the light part is headroom.");
  page.chart(roofline_of(profile),
             "Each dot is a launch, under the ceilings of this machine with the same number of threads. A launch that "
             "runs from a cache may be above the line of the memory behind it.");
}

void add_launch_table(Page& page, const Profile& profile) {
  Table all = launches_table(all_launches(profile));
  all.caption = "All launches in order";
  page.table(all);
  if (!profile.second || profile.second->launches.empty()) return;
  Table second = launches_table(longest_launches(profile.second->launches, profile.second->launches.size()));
  second.caption = fmt::format("Launches of the second model, {}, on a crop ({} crops per frame)",
                               profile.second->model, number_text(profile.second->crops));
  page.table(second);
}

void add_gaps(Page& page, const Profile& profile) {
  page.section("Idle time");
  page.table(gaps_table(profile));
}

void add_method(Page& page, const Profile& profile) {
  page.section("How it was measured");
  page.text(fmt::format("{} frames after {} warm-up frames. {}", number(profile.frames), profile.warm_up,
                        overhead_text(profile.overhead)));
  if (const std::string ceilings = ceilings_text(profile); !ceilings.empty()) page.text(ceilings);
  Table table{.caption = "Ceilings of this machine, all threads together", .columns = {{"ceiling"}, {"rate", true}}};
  for (const ComputeCeiling& ceiling : profile.ceilings.compute)
    table.rows.push_back(
        {fmt::format("{} {}", ceiling.instructions, to_string(ceiling.precision)), quantity_text(ceiling.all, "OP/s")});
  for (const MemoryCeiling& level : profile.ceilings.memory)
    table.rows.push_back({level.level, quantity_text(level.all.most(), "B/s")});
  page.table(table);
}

Page to_page(const Profile& profile, std::size_t launches) {
  Page page(profile.source.empty() ? profile.model : fmt::format("{} on {}", profile.model, short_name(profile.source)),
            subtitle_of(profile));
  add_tiles(page, profile);
  page.lead(profile.bottleneck.sentence);
  add_latency(page, profile);
  add_launches(page, profile, launches);
  add_launch_table(page, profile);
  add_gaps(page, profile);
  add_method(page, profile);
  return page;
}

}  // namespace saccade
