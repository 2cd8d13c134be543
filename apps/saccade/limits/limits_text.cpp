#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "limits/limits_report.hpp"
#include "measure/statistics/units.hpp"

namespace saccade::app {
namespace {

std::string cut(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  // The end of a node's name distinguishes it from its neighbours.
  return ".." + text.substr(text.size() - width + 2);
}

std::string bytes_text(double bytes) { return quantity_text(bytes, "B"); }

std::string rates(const Bandwidth& bandwidth) {
  return fmt::format("{:>8.1f}{:>8.1f}{:>8.1f}", bandwidth.read / 1e9, bandwidth.write / 1e9, bandwidth.copy / 1e9);
}

ReportText ceilings_text(const LimitsReport& report) {
  const Ceilings& ceilings = report.ceilings;
  ReportText text = report_text("device      {}, {} thread{}; {}\n", ceilings.device, ceilings.threads,
                                ceilings.threads == 1 ? "" : "s", report.origin);
  text += report_text("\n{:<32}{:>6}{:>20}{:>20}\n", "compute", "", "one core", "all threads");
  for (const ComputeCeiling& each : ceilings.compute)
    text += report_text("  {:<30}{:>6}{:>20}{:>20}\n", each.instructions, to_string(each.precision),
                        quantity_text(each.one_core, "OP/s"), quantity_text(each.all, "OP/s"));
  text += report_text("\n{:<32}{:>24}{:>24}\n{:<12}{:>20}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}\n", "memory, GB/s", "one core",
                      "all threads", "", "capacity", "read", "write", "copy", "read", "write", "copy");
  for (const MemoryCeiling& each : ceilings.memory)
    text += report_text("  {:<10}{:>20}{}{}\n", each.level,
                        each.capacity > 0 ? bytes_text(static_cast<double>(each.capacity)) : "", rates(each.one_core),
                        rates(each.all));
  if (ceilings.clock.count() > 0)
    text += report_text("\ncosts       clock {}, system call {}, smallest launch {}, waking all threads {}\n",
                        duration_text(ceilings.clock), duration_text(ceilings.syscall), duration_text(ceilings.launch),
                        duration_text(ceilings.parallel));
  if (ceilings.run.count() > 0)
    text += report_text("\ncosts       one more launch in a graph {}, a graph of one launch with its wait {}\n",
                        duration_text(ceilings.launch), duration_text(ceilings.run));
  if (!ceilings.copies.empty()) text += report_text("\n{:<12}{:>12}{:>12}\n", "copies", "upload", "download");
  for (const CopyCeiling& each : ceilings.copies)
    text += report_text("  {:<10}{:>12}{:>12}\n", bytes_text(static_cast<double>(each.bytes)),
                        duration_text(each.upload), duration_text(each.download));
  return text;
}

std::string times_text(const Bound& bound, const Timing* timing) {
  if (timing == nullptr) return fmt::format("{:>11}{:>44}", duration_text(bound.time), bound.limiter);
  return fmt::format("{:>11}{:>11}{:>11}{:>11}{:>11}", duration_text(bound.time), duration_text(timing->least),
                     duration_text(timing->median), percent_text(headroom(bound.time, timing->median)), bound.limiter);
}

std::string operator_of(const Plan& plan, const Step& step) {
  const Node& node = plan.graph().node(step.node);
  std::string name = node.op;
  for (const PostOp& post : node.post_ops) name += "+" + post.op;
  return name;
}

/// The launches in descending order of possible gain; without measurements, of their bounds.
std::vector<std::size_t> by_loss(const ModelLimits& limits) {
  std::vector<std::size_t> order(limits.bounds.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return limits.bounds.steps[i].time.count() <= 0; });
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) {
    const Nanoseconds bound = limits.bounds.steps[i].time;
    return limits.times ? limits.times->steps[i].median - bound : bound;
  });
  return order;
}

ReportText layers_text(const ModelLimits& limits, std::size_t top) {
  std::vector<std::size_t> order = by_loss(limits);
  const std::size_t all = order.size();
  if (top > 0 && order.size() > top) order.resize(top);
  ReportText text =
      report_text("\n{:<45}{:>11}{}\n", fmt::format("layers, {} of {}", order.size(), all), "bound",
                  limits.times ? fmt::format("{:>11}{:>11}{:>11}{:>11}", "least", "median", "headroom", "limit")
                               : fmt::format("{:>44}", "limit"));
  for (const std::size_t i : order) {
    const Step& step = limits.plan->steps()[i];
    const std::string label =
        fmt::format("{} {}", cut(limits.plan->graph().node(step.node).name, 26), operator_of(*limits.plan, step));
    text += report_text("  {:<43}{}\n", label.substr(0, 42),
                        times_text(limits.bounds.steps[i], limits.times ? &limits.times->steps[i] : nullptr));
  }
  return text;
}

ReportText stages_text(const ModelLimits& limits) {
  ReportText text =
      report_text("\n{:<45}{:>11}{}\n", "stages", "bound",
                  limits.times ? fmt::format("{:>11}{:>11}{:>11}{:>11}", "least", "median", "headroom", "limit")
                               : fmt::format("{:>44}", "limit"));
  for (std::size_t i = 0; i < limits.bounds.stages.size(); ++i)
    if (limits.bounds.stages[i].time.count() > 0)
      text += report_text("  {:<43}{}\n", to_string(static_cast<Stage>(i)),
                          times_text(limits.bounds.stages[i], limits.times ? &limits.times->stages[i] : nullptr));
  return text + report_text("  {:<43}{}\n", "whole",
                            times_text(limits.bounds.whole, limits.times ? &limits.times->whole : nullptr));
}

ReportText model_text(const ModelReport& report, std::size_t top) {
  const ModelLimits& limits = report.limits;
  const Work& work = limits.bounds.whole.work;
  ReportText text = report_text("\nmodel       {}, {} launches", limits.file, by_loss(limits).size());
  if (limits.frame.width > 0)
    text +=
        report_text(", from {}x{} {} frames", limits.frame.width, limits.frame.height, to_string(limits.frame.format));
  text += report_text("\nwork        {}; {} of weights, {} of activations\n", quantity_text(work.operations, "OP"),
                      bytes_text(static_cast<double>(work.weight_bytes)),
                      bytes_text(static_cast<double>(work.activation_bytes())));
  if (limits.times) text += report_text("measured    {} runs\n", limits.times->runs);
  text += report_text("\n{:<12}{:>14}{:>14}{:>24}{:>24}\n", "precision", "operations", "bytes", "bound, per layer",
                      "bound, all fused");
  for (const PrecisionBound& each : report.precisions) {
    text += report_text("  {:<10}{:>14}{:>14}{:>24}{:>24}\n", to_string(each.precision),
                        duration_text(each.whole.compute), duration_text(each.whole.memory),
                        fmt::format("{} ({})", duration_text(each.whole.time), each.whole.limiter),
                        fmt::format("{} ({})", duration_text(each.fused.time), each.fused.limiter));
  }
  return text + stages_text(limits) + layers_text(limits, top);
}

ReportText period_text(const PeriodReport& report) {
  const FramePeriod& found = report.period;
  ReportText text = report_text("\nframes      {}, {} each", to_string(report.camera),
                                bytes_text(static_cast<double>(report.camera.frame_bytes())));
  if (report.bus_rate) text += report_text(", over a bus of {}", quantity_text(*report.bus_rate, "B/s"));
  text += "\n";
  for (const FrameStage& stage : found.stages) {
    text += report_text("  {:<30}{:>10.2f} ms", stage.name, to_milliseconds(stage.time));
    if (stage.bound.count() > 0)
      text += report_text("   bound {:.3g} ms, headroom {}", to_milliseconds(stage.bound),
                          percent_text(headroom(stage.bound, stage.time)));
    text += "\n";
  }
  text += report_text("  {:<30}{:>10.2f} ms\n", "period", to_milliseconds(found.period));
  text += report_text("  {:<30}{:>10.2f} ms\n", "processing", to_milliseconds(found.processing));
  if (found.deficit.count() > 0) {
    text += report_text("  {:<30}{:>10.2f} ms per frame\n", "deficit", to_milliseconds(found.deficit));
    text += report_text("  {:<30}{:>10.0f} ms over {} frames\n", "accumulated", to_milliseconds(found.accumulated),
                        found.frames);
  } else {
    text += report_text("  {:<30}{:>10.2f} ms per frame\n", "slack", to_milliseconds(found.slack));
  }
  text += report_text("  {:<30}{:>10} of {} periods\n", "frames lost", found.frames_lost, found.frames);
  text += report_text("  {:<30}{:>10.1f} frames per second of {:.4g}\n", "effective rate", found.effective_rate,
                      report.camera.rate);
  text += report_text("  {:<30}{:>10.1f} %\n", "efficiency", 100 * found.efficiency);
  if (!found.most_headroom.empty()) text += report_text("  {:<30}{:>10}\n", "most headroom", found.most_headroom);
  return text;
}

}  // namespace

ReportText to_text(const LimitsReport& report) {
  ReportText text = ceilings_text(report);
  for (const ModelReport& model : report.models) text += model_text(model, report.top);
  if (report.period) text += period_text(*report.period);
  return text;
}

ReportText check_text(const LimitsReport& report, double tolerance) {
  constexpr std::size_t kShown = 5;
  ReportText text = report_text("{:<50}{:>9}{:>11}{:>11}{:>9}{:>11}\n", "model", "launches", "bound", "least",
                                "closest", "violations");
  ReportText worst;
  std::size_t count = 0;
  for (const ModelReport& model : report.models) {
    const ModelLimits& limits = model.limits;
    const std::vector<Violation> found = violations(limits, tolerance);
    count += found.size();
    text += report_text("{:<50}{:>9}{:>11}{:>11}{:>9.2f}{:>11}\n", cut(limits.file, 48), by_loss(limits).size(),
                        duration_text(limits.bounds.whole.time), duration_text(limits.times->whole.least),
                        closest_to_bound(limits), found.size());
    for (std::size_t i = 0; i < std::min(kShown, found.size()); ++i)
      worst += report_text("  {}: {}: {} measured, bound {} ({}), {:.3f}\n", cut(limits.file, 40), found[i].where,
                           duration_text(found[i].least), duration_text(found[i].bound), found[i].limiter,
                           found[i].least / found[i].bound);
  }
  text += report_text("\n{} model{}: {} bound{} violated by more than {}\n", report.models.size(),
                      report.models.size() == 1 ? "" : "s", count, count == 1 ? "" : "s", percent_text(tolerance));
  return text + worst;
}

}  // namespace saccade::app
