#include "pipeline/stream/memory_shares.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "pipeline/model/object_runner.hpp"
#include "saccade/cameras.hpp"
#include "scene/options.hpp"

namespace saccade {
namespace {

std::string mebibytes(std::size_t bytes) {
  constexpr double kMebi = 1 << 20;
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMebi);
}

/// Of one frame in the format that SOURCE is decoded to: images and scenes are RGB, a camera has no more, nearly all
/// videos are 4:2:0.
std::size_t frame_bytes_of(const SourceInfo& source) {
  if (source.width <= 0 || source.height <= 0) return 0;
  const bool is_rgb = !source.files.empty() || is_scene(source.name) || is_camera(source.name);
  return frame_bytes(is_rgb ? PixelFormat::kRgb24 : PixelFormat::kI420, source.width, source.height);
}

}  // namespace

void MemoryShares::add(std::string what, std::size_t bytes) {
  total_ += bytes;
  shares_.push_back({std::move(what), bytes});
}

void MemoryShares::add_model(ModelRunner& model) {
  const Plan& plan = *model.plan();
  const std::size_t activations = plan.arena_bytes();
  const std::size_t weights = plans_.insert(&plan).second ? plan.memory_bytes() - activations : 0;
  add(fmt::format("the model {} (weights {}, activations {})", model.result().model, mebibytes(weights),
                  mebibytes(activations)),
      weights + activations);
  for (const auto& batch : model.batch_plans())
    add(fmt::format("the model {} for a batch", model.result().model), batch->memory_bytes());
  if (ObjectRunner* second = model.objects()) add_model(second->runner());
}

void MemoryShares::add_frames(const SourceInfo& source, std::size_t buffers) {
  if (source.frames >= 0 && !source.endless) buffers = std::min(buffers, static_cast<std::size_t>(source.frames));
  const std::size_t bytes = buffers * frame_bytes_of(source);
  if (bytes == 0) return;
  frames_ += bytes;
  add(fmt::format("{} ({} frames of {}x{})", source.name, buffers, source.width, source.height), bytes);
}

void MemoryShares::add_results(ModelSet& models, std::size_t runs) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < models.size(); ++i) bytes += runs * models[i].result_bytes();
  add(fmt::format("results ({} of each model)", runs), bytes);
}

void MemoryShares::check(std::size_t limit) const {
  if (total_ <= limit) return;
  constexpr std::size_t kListed = 8;
  std::vector<Share> sorted = shares_;
  std::ranges::stable_sort(sorted, std::greater(), &Share::bytes);
  std::string list;
  std::size_t others = total_;
  for (std::size_t i = 0; i < std::min(sorted.size(), kListed); ++i) {
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", sorted[i].what, mebibytes(sorted[i].bytes));
    others -= sorted[i].bytes;
  }
  if (sorted.size() > kListed) list += fmt::format(", {} others {}", sorted.size() - kListed, mebibytes(others));
  fail(ErrorCode::kUnsupported,
       "the run needs {}, but its memory is limited to {}: {}; use a shorter --queue, fewer sources or models, a "
       "smaller model, or raise the limit with --max-memory SIZE",
       mebibytes(total_), mebibytes(limit), list);
}

std::size_t MemoryShares::left_for_frames(std::size_t limit) const {
  const std::size_t others = total_ - frames_;
  return std::max<std::size_t>(limit > others ? limit - others : 0, 1);
}

}  // namespace saccade
