#include "measure/profile/profile_assembly.hpp"

#include <algorithm>
#include <array>

#include "base/processors.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

double share_of(std::chrono::nanoseconds part, std::chrono::nanoseconds whole) {
  return whole.count() > 0 ? Nanoseconds(part) / Nanoseconds(whole) : 0;
}

/// The bound of a frame's runs from that of one RUN.
Bound times_tiles(Bound run, const Profile& profile) {
  const auto tiles = static_cast<double>(profile.tiles);
  run.time *= tiles;
  run.compute *= tiles;
  run.memory *= tiles;
  return run;
}

/// The bound of a stage, if it has one: waits have none, nor has a camera, whose frames are not written by the
/// processor.
std::optional<Bound> bound_of_stage(const Profile& profile, const FrameSize& frame, std::string_view stage) {
  for (Stage each : {Stage::kPre, Stage::kModel, Stage::kPost})
    if (to_string(each) == stage) return times_tiles(profile.bounds.stages[static_cast<std::size_t>(each)], profile);
  if (stage != "capture" || profile.is_live || frame.width <= 0) return std::nullopt;
  std::int64_t bytes = 0;
  for (const PlaneSize& plane : plane_sizes(frame.format, frame.width, frame.height))
    bytes += std::int64_t{plane.row_bytes} * plane.rows;
  return bound_of({.write_bytes = bytes}, bytes, profile.ceilings);
}

std::vector<StageProfile> stages_of(const Profile& profile, const Recorder& recorder, const FrameSize& frame) {
  std::vector<StageProfile> stages;
  const std::vector<StageSummary> summaries = recorder.stages().summarize();
  const std::chrono::nanoseconds total = summaries.back().time.mean;
  for (const StageSummary& summary : summaries) {
    StageProfile stage{.name = summary.name, .time = summary.time, .share = share_of(summary.time.mean, total)};
    if (const auto bound = bound_of_stage(profile, frame, summary.name); bound && bound->time.count() > 0) {
      stage.bound = bound;
      stage.headroom = headroom(bound->time, summary.time.p50);
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}

/// The launches of PLAN, which runs RUNS times per frame of FRAME_TIME.
std::vector<LaunchProfile> launches_of(const Plan& plan, const PlanBounds& bounds, const Recorder& recorder,
                                       double runs, std::chrono::nanoseconds frame_time) {
  std::vector<LaunchProfile> launches;
  const Graph& graph = plan.graph();
  for (std::size_t i = 0; i < plan.steps().size(); ++i) {
    const Step& step = plan.steps()[i];
    if (!step.launch) continue;
    const Node& node = graph.node(step.node);
    const TensorType& output = graph.value(node.outputs[0]).type;
    LaunchProfile launch{.step = i,
                         .node = node.name,
                         .operation = operation_name(graph, node),
                         .output = fmt::format("{} {}", to_string(output.dtype), output.shape.to_string()),
                         .stage = step.stage,
                         .tactic = std::string(step.tactic->name()),
                         .detail = step.launch->detail(),
                         .time = distribution_of(recorder.launch(i)),
                         .bound = bounds.steps[i],
                         .gap_after = recorder.gap_after(i)};
    launch.share = runs * share_of(launch.time.mean, frame_time);
    launch.headroom = headroom(launch.bound.time, launch.time.p50);
    launches.push_back(std::move(launch));
  }
  return launches;
}

RunFacts facts_of(const Profile& profile) {
  RunFacts facts{.is_live = profile.is_live,
                 .threads = profile.plan->threads(),
                 .cores = available_processors(),
                 .waiting = profile.gaps.waiting.mean,
                 .gaps = profile.gaps.within.p50};
  const auto time_of = [&profile](std::string_view stage) {
    return std::ranges::find(profile.stages, stage, &StageProfile::name)->time.p50;
  };
  facts.capture = time_of("capture");
  facts.queue = time_of("queue");
  facts.pre = time_of("pre");
  facts.model = time_of("model");
  facts.post = time_of("post");
  for (const LaunchProfile& launch : profile.launches)
    if (launch.stage == Stage::kModel)
      facts.launches.push_back({.name = launch.operation,
                                .tactic = launch.tactic,
                                .time = launch.time.p50 * static_cast<std::int64_t>(profile.tiles),
                                .bound = times_tiles(launch.bound, profile).time,
                                .limiter = launch.bound.limiter});
  return facts;
}

}  // namespace

std::string operation_name(const Graph& graph, const Node& node) {
  std::string name = node.domain.empty() ? node.op : node.domain + "." + node.op;
  const bool is_convolution = node.op == "Conv" || node.op == "ConvTranspose" || node.op == "ConvInteger";
  const std::size_t weights = node.op == "QLinearConv" ? 3 : 1;
  if ((is_convolution || weights == 3) && node.inputs.size() > weights) {
    const Shape& shape = graph.value(node.inputs[weights]).type.shape;
    for (int i = 2; i < shape.rank(); ++i) name += fmt::format("{}{}", i == 2 ? " " : "x", shape[i]);
    if (node.attributes.integer("group", 1) > 1) name += shape.rank() > 1 && shape[1] == 1 ? " depthwise" : " grouped";
  }
  for (const PostOp& post : node.post_ops) name += "+" + post.op;
  return name;
}

void assemble(Profile& profile, Recorder& recorder, const FrameSize& frame) {
  profile.frames = recorder.count();
  const double seconds = std::chrono::duration<double>(profile.elapsed).count();
  profile.frames_per_second = seconds > 0 ? static_cast<double>(profile.frames) / seconds : 0;
  profile.bounds = bound_plan(*profile.plan, profile.ceilings, {.frame = profile.tiles > 1 ? profile.tile : frame});
  profile.frame_time = distribution_of(recorder.frame());
  profile.stages = stages_of(profile, recorder, frame);
  profile.launches =
      launches_of(*profile.plan, profile.bounds, recorder, static_cast<double>(profile.tiles), profile.frame_time.mean);
  profile.gaps = {distribution_of(recorder.gaps()), distribution_of(recorder.waiting()),
                  distribution_of(recorder.outside())};
  profile.latency = recorder.stages().total();
  profile.timeline = recorder.timeline().columns();
  profile.frames_a_column = recorder.timeline().frames_a_column();
  profile.trace = recorder.take_trace();
  profile.bottleneck = find_bottleneck(facts_of(profile));
}

void assemble_second(Profile& profile, const Recorder& recorder) {
  SecondProfile& second = *profile.second;
  const PlanBounds bounds = bound_plan(*second.plan, profile.ceilings, {.frame = second.crop});
  second.launches = launches_of(*second.plan, bounds, recorder, second.crops, profile.frame_time.mean);
}

}  // namespace saccade
