#include "run_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "interrupt.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

bool is_any_live(std::span<const Source> sources) {
  return std::ranges::any_of(sources, [](const Source& source) { return source.info().live; });
}

/// Each with a thread and a queue of its own: a video that can't be written costs no other's frames.
void add_videos(const RunFlags& flags, std::span<const Source> sources, Sinks& sinks) {
  const Rotation& rotation = flags.rotate.rotation;
  std::vector<std::unique_ptr<FileSink>> videos = open_videos(flags.video, sources, rotation);
  for (std::size_t i = 0; i < videos.size(); ++i) {
    std::string path = videos[i]->path();
    // A container that could not be written ends there; the next file can begin.
    sinks.push_back({.name = std::move(path),
                     .sink = std::move(videos[i]),
                     .retry = rotation.is_on() && is_retried(flags.video, sources),
                     .stream = i});
  }
}

void add_preview(const RunFlags& flags, PipelineView& view, std::span<const Source> sources, std::size_t models,
                 Sinks& sinks) {
  if (!flags.servers.preview.is_given()) return;
  PreviewOptions options = flags.servers.preview_options();
  options.summary = [&view] { return view.summary(); };
  std::vector<std::unique_ptr<NetworkSink>> shown = open_preview(options, sources, models);
  const std::string address = shown.front()->address();
  print_aside(fmt::format("preview: {}\n", address));
  for (std::size_t i = 0; i < shown.size(); ++i)
    sinks.push_back({.name = fmt::format("{}stream/{}.mjpg", address, i), .sink = std::move(shown[i]), .stream = i});
}

void add_window(std::span<const Source> sources, std::size_t models, Sinks& sinks) {
  std::vector<std::unique_ptr<Sink>> shown = open_show(sources, models, interrupt);
  for (std::size_t i = 0; i < shown.size(); ++i)
    sinks.push_back({.name = fmt::format("window, stream {}", i), .sink = std::move(shown[i]), .stream = i});
}

}  // namespace

bool is_retried(const std::string& path, std::span<const Source> sources) {
  return is_any_live(sources) && !is_standard_output(path);
}

Sinks open_sinks(const RunFlags& flags, PipelineView& view, std::span<const Source> sources,
                 std::span<const Model> models) {
  Sinks sinks;
  const Rotation& rotation = flags.rotate.rotation;
  JsonlOptions jsonl = flags.jsonl_options;
  jsonl.rotation = rotation;
  const auto add = [&](const std::string& path, const auto& open) {
    if (path.empty()) return;
    sinks.push_back({.name = is_standard_output(path) ? "standard output" : path,
                     .sink = open(path),
                     .retry = is_retried(path, sources)});
  };
  add(flags.jsonl, [&](const std::string& path) { return open_jsonl(path, jsonl); });
  add(flags.coco, [&](const std::string& path) { return open_coco(path, models, sources, rotation); });
  add(flags.mot, [&](const std::string& path) { return open_mot(path, models, sources); });
  add(flags.csv, [&](const std::string& path) { return open_csv(path, models, rotation); });
  add(flags.yolo, [&](const std::string& path) { return open_yolo(path, models, sources.size(), flags.yolo_options); });
  if (!flags.video.empty()) add_videos(flags, sources, sinks);
  add(flags.frames, open_frames);
  for (std::size_t i = 0; i < sources.size() && !flags.publish.empty(); ++i) {
    std::unique_ptr<NetworkSink> published = open_publish(flags.publish, i, sources, models.size());
    std::string address = published->address();
    sinks.push_back({.name = std::move(address), .sink = std::move(published), .stream = i});
  }
  if (!flags.mqtt.empty()) {
    std::unique_ptr<NetworkSink> published = open_mqtt(flags.mqtt, flags.jsonl_options);
    std::string address = published->address();
    sinks.push_back({.name = std::move(address), .sink = std::move(published)});
  }
  add_preview(flags, view, sources, models.size(), sinks);
  if (flags.show) add_window(sources, models.size(), sinks);
  return sinks;
}

FolderSink* add_drawn(const RunFlags& flags, std::span<const Source> sources, Sinks& sinks) {
  constexpr const char* kFolder = "saccade-run";
  if (!flags.save || !sinks.empty()) return nullptr;
  const bool is_limited = flags.pipeline.max_frames > 0 || flags.pipeline.duration.count() > 0;
  auto drawn = open_drawn(kFolder, sources, is_limited);
  FolderSink* sink = drawn.get();
  // The video of a live source ends where it can't be written.
  sinks.push_back({.name = kFolder, .sink = std::move(drawn), .retry = false});
  return sink;
}

void add_events(const RunFlags& flags, Sinks& sinks) {
  if (!flags.common.json || flags.zones.empty()) return;
  const JsonlOptions events{.results = false, .summary = false};
  sinks.push_back({.name = "standard output", .sink = open_jsonl("-", events), .retry = false});
}

}  // namespace saccade::app
