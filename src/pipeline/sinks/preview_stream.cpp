#include "pipeline/sinks/preview_stream.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace saccade {

PreviewStream::Viewer::Viewer(PreviewStream& stream) : stream_(stream) {
  const std::scoped_lock lock(stream_.mutex_);
  ++stream_.viewers_;
}

PreviewStream::Viewer::~Viewer() {
  const std::scoped_lock lock(stream_.mutex_);
  --stream_.viewers_;
}

bool PreviewStream::is_watched() const {
  const std::scoped_lock lock(mutex_);
  return viewers_ > 0;
}

void PreviewStream::count(std::size_t objects, Clock::time_point time, std::chrono::nanoseconds latency) {
  const std::scoped_lock lock(mutex_);
  times_[static_cast<std::size_t>(frames_) % kTimes] = time;
  latencies_[static_cast<std::size_t>(frames_) % kLatencies] = latency;
  ++frames_;
  objects_ = objects;
}

void PreviewStream::show(std::string jpeg) {
  auto shown = std::make_shared<const std::string>(std::move(jpeg));
  const std::scoped_lock lock(mutex_);
  image_ = {std::move(shown), image_.number + 1};
  changed_.notify_all();
}

void PreviewStream::end() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

PreviewStream::Image PreviewStream::wait_for(std::int64_t after, Clock::duration patience) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return ended_ || image_.number > after; });
  return image_.number > after ? image_ : Image();
}

PreviewStream::Image PreviewStream::newest() const {
  const std::scoped_lock lock(mutex_);
  return image_;
}

PreviewStream::State PreviewStream::state() const {
  constexpr auto kRecent = std::chrono::seconds(3);
  const std::scoped_lock lock(mutex_);
  State state{.frames = frames_, .objects = objects_, .ended = ended_};
  if (frames_ == 0) return state;
  std::vector<std::chrono::nanoseconds> latencies(latencies_.begin(),
                                                  latencies_.begin() + std::min<std::int64_t>(frames_, kLatencies));
  std::ranges::sort(latencies);
  // The nearest rank, as Histogram::percentile().
  const auto percentile = [&](std::size_t percent) { return latencies[(latencies.size() * percent + 99) / 100 - 1]; };
  state.p50 = percentile(50);
  state.p99 = percentile(99);
  const std::size_t known = std::min<std::size_t>(static_cast<std::size_t>(frames_), kTimes);
  if (known < 2 || ended_) return state;
  const auto end = static_cast<std::size_t>(frames_);
  const Clock::time_point newest = times_[(end - 1) % kTimes];
  const std::chrono::duration<double> span = newest - times_[(end - known) % kTimes];
  if (Clock::now() - newest < kRecent && span.count() > 0)
    state.frame_rate = static_cast<double>(known - 1) / span.count();
  return state;
}

}  // namespace saccade
