#include "measure/profile/profile_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace saccade {
namespace {

void add_figures(std::vector<std::string>& row, const Distribution& time) {
  for (const auto each : {time.mean, time.deviation, time.p50, time.p90, time.p99, time.max})
    row.push_back(duration_text(each));
}

void add_bound(std::vector<std::string>& row, const Bound& bound, double headroom) {
  const bool is_known = bound.time.count() > 0;
  row.push_back(is_known ? duration_text(bound.time) : "-");
  row.push_back(is_known ? percent_text(headroom) : "-");
}

std::vector<Table::Column> columns(std::string_view first, std::initializer_list<const char*> numbers) {
  std::vector<Table::Column> made = {{std::string(first)}};
  for (const char* title : numbers) made.push_back({title, true});
  return made;
}

}  // namespace

Table stages_table(const Profile& profile) {
  Table table{.caption = "Frame time by stage",
              .columns = columns("stage", {"mean", "dev", "p50", "p90", "p99", "max", "share", "bound", "headroom"})};
  table.columns.back().follows = true;
  for (const StageProfile& stage : profile.stages) {
    std::vector<std::string> row = {stage.name};
    add_figures(row, stage.time);
    row.push_back(percent_text(stage.share));
    add_bound(row, stage.bound.value_or(Bound()), stage.headroom);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table launches_table(const std::vector<const LaunchProfile*>& launches) {
  Table table{.columns = {{"step", true}, {"operation"}}};
  for (const char* title : {"mean", "dev", "p50", "p99", "share", "bound", "headroom"})
    table.columns.push_back({title, true});
  table.columns.back().follows = true;
  table.columns.push_back({"tactic"});
  for (const LaunchProfile* launch : launches) {
    std::vector<std::string> row = {std::to_string(launch->step), launch->operation};
    for (const auto each : {launch->time.mean, launch->time.deviation, launch->time.p50, launch->time.p99})
      row.push_back(duration_text(each));
    row.push_back(percent_text(launch->share));
    add_bound(row, launch->bound, launch->headroom);
    row.push_back(launch->detail.empty() ? launch->tactic : fmt::format("{} {}", launch->tactic, launch->detail));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table gaps_table(const Profile& profile) {
  Table table{.caption = "Idle time per frame", .columns = columns("gap", {"mean", "dev", "p50", "p90", "p99", "max"})};
  const auto add = [&](std::string_view name, const Distribution& time) {
    std::vector<std::string> row = {std::string(name)};
    add_figures(row, time);
    table.rows.push_back(std::move(row));
  };
  add("between its launches", profile.gaps.within);
  const auto largest = std::ranges::max_element(profile.launches, {}, &LaunchProfile::gap_after);
  if (largest != profile.launches.end() && largest->gap_after.count() > 0)
    table.rows.push_back({fmt::format("  of it after step {} ({})", largest->step, largest->operation),
                          duration_text(largest->gap_after)});
  if (profile.source.empty()) return table;
  add("waiting for the next frame", profile.gaps.waiting);
  add("from a result to that wait", profile.gaps.between);
  return table;
}

std::string overhead_text(const Overhead& overhead) {
  return fmt::format(
      "Recording {} launches of {} each is {} of a frame; alternating blocks of frames with and without recording took "
      "{} and {} per frame ({:+.2f} %, 95 % interval {:+.2f} to {:+.2f} %; medians of {} pairs).",
      overhead.events, duration_text(overhead.per_event), percent_text(overhead.expected_share()),
      duration_text(overhead.with), duration_text(overhead.without), 100 * overhead.share, 100 * overhead.interval.low,
      100 * overhead.interval.high, overhead.blocks);
}

std::int64_t launches_beyond_bound(const Profile& profile) {
  constexpr double kTolerance = 0.03;  // clock frequencies drift by as much
  return std::ranges::count_if(profile.launches, [](const LaunchProfile& each) { return each.headroom < -kTolerance; });
}

std::string ceilings_text(const Profile& profile) {
  const std::int64_t count = launches_beyond_bound(profile);
  if (count == 0) return {};
  return fmt::format(
      "{} of {} launches took less than their bound: other work slowed the measurement of the ceilings, so bounds and "
      "headroom are too pessimistic; profile again on an idle machine.",
      count, profile.launches.size());
}

std::vector<const LaunchProfile*> all_launches(const Profile& profile) {
  std::vector<const LaunchProfile*> launches;
  for (const LaunchProfile& launch : profile.launches) launches.push_back(&launch);
  return launches;
}

std::vector<const LaunchProfile*> longest_launches(const std::vector<LaunchProfile>& launches, std::size_t count) {
  std::vector<const LaunchProfile*> longest;
  for (const LaunchProfile& launch : launches) longest.push_back(&launch);
  std::ranges::stable_sort(longest, std::ranges::greater(), [](const auto* each) { return each->time.p50; });
  longest.resize(std::min(count, longest.size()));
  return longest;
}

}  // namespace saccade
