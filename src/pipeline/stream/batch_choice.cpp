#include "pipeline/stream/batch_choice.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/model/model_impl.hpp"
#include "pipeline/model/model_set.hpp"
#include "pipeline/stream/frame_selection.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMostImages = 32;
constexpr double kLeastGain = 1.05;  // of the rate, for twice the images
constexpr double kSpare = 2;         // of the rate: results are read on the host, and sources do not keep time
constexpr int kRuns = 5;

double rate_of(const BatchTime& run) {
  return static_cast<double>(run.images) / std::chrono::duration<double>(run.time).count();
}

/// The longest wait with which RUN keeps the goal; nothing: it does not.
std::optional<std::chrono::nanoseconds> wait_with(const BatchTime& run, const BatchDemand& demand) {
  const auto wait = run.images == 1 ? std::chrono::nanoseconds(0) : demand.wait;
  if (demand.goal.count() == 0) return wait;
  const auto left = demand.goal - 2 * run.time;
  if (left.count() < 0) return std::nullopt;
  return std::min(wait, left);
}

double demanded_rate(std::span<const Source> sources, const PipelineOptions& options) {
  double sum = 0;
  for (const Source& source : sources) {
    const double rate = selected_rate(source.info().frame_rate, options.every, options.max_rate);
    if (!source.info().live || rate <= 0) return 0;
    sum += rate;
  }
  return sum;
}

/// A black frame of the largest of SOURCES, in memory that MODEL's device reads in place.
class BlackFrame {
 public:
  BlackFrame(const Model& model, std::span<const Source> sources)
      : execution_(open_execution(model.name(), impl_of(model).vision_plan().plan)),
        pool_(1, execution_.frame_memory()) {
    int width = 0;
    int height = 0;
    for (const Source& source : sources) {
      const SourceInfo& info = source.info();
      if (std::int64_t{info.width} * info.height <= std::int64_t{width} * height) continue;
      width = info.width;
      height = info.height;
    }
    if (width <= 0) width = height = 640;
    const std::size_t bytes = frame_bytes(PixelFormat::kI420, width, height);
    lease_ = pool_.acquire(bytes);
    std::memset(lease_.buffer().data, 0, bytes);
    view_ = lay_out(lease_.buffer(), PixelFormat::kI420, width, height);
  }
  const FrameView& view() const { return view_; }

 private:
  Execution execution_;
  FramePool pool_;
  FrameLease lease_;
  FrameView view_;
};

/// The median time of all models on a batch of FRAME.
BatchTime time_batch(const std::vector<Model>& models, std::size_t images, const FrameView& frame) {
  std::vector<Execution> executions;
  for (const Model& model : models)
    executions.push_back(open_execution(model.name(), impl_of(model).vision_plan(images).plan));
  std::vector<std::chrono::nanoseconds> times;
  for (int i = 0; i <= kRuns; ++i) {
    const auto start = Clock::now();
    for (Execution& execution : executions) {
      std::ranges::fill(execution.frames(), frame);
      execution.run();
    }
    if (i > 0) times.push_back(Clock::now() - start);  // the first one allocates
  }
  std::ranges::nth_element(times, times.begin() + kRuns / 2);
  return {images, times[kRuns / 2]};
}

}  // namespace

std::chrono::nanoseconds time_frame(const std::vector<Model>& models, std::span<const Source> sources) {
  const BlackFrame frame(models.front(), sources);
  return time_batch(models, 1, frame.view()).time;
}

BatchChoice choose_batch(std::span<const BatchTime> times, const BatchDemand& demand) {
  BatchChoice best;
  double best_rate = 0;
  for (const BatchTime& run : times) {
    const auto wait = wait_with(run, demand);
    if (!wait) continue;
    const double rate = rate_of(run);
    if (rate < best_rate * kLeastGain) continue;
    best = {run.images, *wait};
    best_rate = rate;
    if (demand.rate > 0 && rate >= kSpare * demand.rate) break;
  }
  return best;
}

BatchChoice find_batch(const std::vector<Model>& models, std::span<const Source> sources,
                       const PipelineOptions& options) {
  if (options.batch != 0) return {options.batch, options.batch_wait};
  if (!std::ranges::all_of(models, takes_batches)) return {};
  const BatchDemand demand{demanded_rate(sources, options), options.latency_goal, options.batch_wait};
  const BlackFrame frame(models.front(), sources);
  std::vector<BatchTime> times;
  BatchChoice choice;
  std::string refused;
  for (std::size_t images = 1; images <= kMostImages; images *= 2) {
    try {
      times.push_back(time_batch(models, images, frame.view()));
    } catch (const Error& error) {
      if (images == 1) throw;
      refused = error.what();
      break;
    }
    choice = choose_batch(times, demand);
    if (choice.images < images || (demand.rate > 0 && rate_of(times.back()) >= kSpare * demand.rate)) break;
  }
  std::string measured;
  for (const BatchTime& run : times)
    measured += fmt::format("{}{}: {:.2f} ms", measured.empty() ? "" : ", ", run.images, to_milliseconds(run.time));
  if (choice.images == 1)
    log(LogLevel::kInfo, "one frame at a time: a run of {}", measured);
  else
    log(LogLevel::kInfo, "batches of {} frames, which wait for at most {:.1f} ms: a run of {}", choice.images,
        to_milliseconds(choice.wait), measured);
  if (!refused.empty()) log(LogLevel::kInfo, "no larger batch: {}", refused);
  return choice;
}

}  // namespace saccade
