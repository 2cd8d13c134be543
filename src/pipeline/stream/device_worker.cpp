#include "pipeline/stream/device_worker.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.hpp"
#include "pipeline/model/model_impl.hpp"
#include "pipeline/stream/frame_selection.hpp"
#include "pipeline/stream/stream_dealing.hpp"

namespace saccade {
namespace {

double rate_of(const SourceInfo& source, const PipelineOptions& options) {
  return selected_rate(source.frame_rate, options.every, options.max_rate);
}

std::vector<Source> chosen(std::span<const Source> sources, std::span<const std::size_t> streams) {
  std::vector<Source> some;
  for (const std::size_t stream : streams) some.push_back(sources[stream]);
  return some;
}

/// By stream and model; streams of other devices have none.
Trackers make_trackers(DeviceWorker& worker, std::span<const Source> sources, const PipelineOptions& options) {
  Trackers trackers(sources.size());
  for (const std::size_t stream : worker.streams)
    for (std::size_t i = 0; i < worker.models.size(); ++i)
      trackers[stream].push_back(worker.models[i].make_tracker(rate_of(sources[stream].info(), options)));
  return trackers;
}

/// The devices that get a stream: no more than there are SOURCES.
std::span<const Device> used_devices(std::span<const Source> sources, const PipelineOptions& options) {
  const std::span<const Device> devices = options.devices;
  if (devices.size() <= sources.size()) return devices;
  for (const Device& idle : devices.subspan(sources.size()))
    log(LogLevel::kWarning, "{} is idle: each source stays on one device, and there {} only {}", to_string(idle),
        sources.size() == 1 ? "is" : "are", sources.size());
  return devices.first(sources.size());
}

std::vector<Model> models_on(const Device& device, const std::vector<Model>& models) {
  std::vector<Model> there;
  for (const Model& model : models)
    there.push_back(model.options().device == device ? model : impl_of(model).on(device));
  return there;
}

/// Files are read as fast as they can be: their rates say nothing.
std::vector<double> rates_of(std::span<const Source> sources, const PipelineOptions& options) {
  std::vector<double> rates;
  for (const Source& source : sources)
    rates.push_back(source.info().live ? std::max(rate_of(source.info(), options), 0.0) : 0);
  return rates;
}

}  // namespace

std::chrono::nanoseconds live_period(const SourceInfo& source, const PipelineOptions& options) {
  const double rate = rate_of(source, options);
  if (!source.live || rate <= 0) return {};
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(1 / rate));
}

DeviceWorker::DeviceWorker(std::optional<Device> its_device, std::vector<std::size_t> its_streams,
                           std::span<const Source> sources, const std::vector<Model>& its_models,
                           const PipelineOptions& options)
    : device(its_device),
      streams(std::move(its_streams)),
      batch(find_batch(its_models, chosen(sources, streams), options)),
      models(its_models, batch.images) {}

void DeviceWorker::warm_up(std::span<const Source> sources) {
  std::set<std::pair<int, int>> sizes;
  for (const std::size_t stream : streams)
    if (const SourceInfo& source = sources[stream].info(); source.live && source.width > 0)
      sizes.emplace(source.width, source.height);
  for (const auto& [width, height] : sizes) models.warm_up(width, height);
}

void DeviceWorker::prepare(std::span<const Source> sources, const Capacities& capacities, FrameRunPool& runs,
                           const PipelineOptions& options, Clock::time_point deadline, Executor::Hooks hooks) {
  std::vector<LaneOptions> lanes;
  std::vector<FrameBatcher::Lane> batched;
  for (const std::size_t stream : streams) {
    const SourceInfo& source = sources[stream].info();
    lanes.push_back(capacities.frames[stream]);
    batched.push_back({.stream = stream, .period = live_period(source, options), .is_live = source.live});
  }
  queue = std::make_unique<BoundedQueue<Frame>>(lanes);
  frames = std::make_unique<FrameBatcher>(*queue, runs, std::move(batched),
                                          FrameBatcher::Options{batch.images, batch.wait, deadline});
  // On the CPU, the models need the processor that it would keep.
  if (streams.size() == 1 && models.overlaps()) frames->stay_awake();
  executor = std::make_unique<Executor>(models, *frames, runs, deadline, std::move(hooks),
                                        make_trackers(*this, sources, options));
}

DeviceWorkers make_workers(std::span<const Source> sources, const std::vector<Model>& models,
                           const PipelineOptions& options) {
  DeviceWorkers workers;
  const std::span<const Device> devices = used_devices(sources, options);
  if (devices.empty()) {
    std::vector<std::size_t> all(sources.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    workers.push_back(std::make_unique<DeviceWorker>(std::nullopt, std::move(all), sources, models, options));
    return workers;
  }
  std::vector<std::vector<Model>> loaded;
  std::vector<double> costs(devices.size(), 1);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    loaded.push_back(models_on(devices[i], models));
    if (devices.size() > 1) costs[i] = std::chrono::duration<double>(time_frame(loaded[i], sources)).count();
  }
  const std::vector<std::size_t> device_of = deal_streams(rates_of(sources, options), costs);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::vector<std::size_t> streams;
    for (std::size_t stream = 0; stream < sources.size(); ++stream)
      if (device_of[stream] == i) streams.push_back(stream);
    log(LogLevel::kInfo, "{}: {:.2f} ms per frame, {} of {} sources", to_string(devices[i]), 1e3 * costs[i],
        streams.size(), sources.size());
    if (streams.empty())
      log(LogLevel::kWarning, "{} is idle: the other devices are faster, even with all sources", to_string(devices[i]));
    else
      workers.push_back(std::make_unique<DeviceWorker>(devices[i], std::move(streams), sources, loaded[i], options));
  }
  return workers;
}

}  // namespace saccade
