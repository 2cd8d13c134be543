#include "pipeline/stream/stream_zones.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "media/network/uri.hpp"

namespace saccade {
namespace {

bool is_of_source(const Zone& zone, std::size_t stream, const SourceInfo& source) {
  return zone.stream ? *zone.stream == stream : zone.source.empty() || network::source_name(zone.source) == source.name;
}

bool is_of_model(const Zone& zone, const Model& model) {
  return model.tracks() && (zone.model.empty() || zone.model == model.name());
}

/// At most some of NAMES, separated by commas.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 20;
  const std::span<const std::string> shown = std::span(names).first(std::min(names.size(), kShown));
  const std::string more = names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

void check_source(const Zone& zone, std::span<const Source> sources) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (is_of_source(zone, i, sources[i].info())) return;
    names.push_back(fmt::format("{} ({})", sources[i].info().name, i));
  }
  const std::string wanted =
      zone.stream ? std::to_string(*zone.stream) : fmt::format("'{}'", network::source_name(zone.source));
  fail(ErrorCode::kInvalidArgument,
       "the {} '{}' is for the source {}, but the sources are {}: name one of them, or give its index",
       to_string(zone.kind), zone.name, wanted, some_of(names));
}

/// Also checks that one of the models has the classes.
void check_model(const Zone& zone, std::span<const Model> models) {
  std::vector<std::string> names;
  std::vector<std::string> labels;
  std::set<std::string_view> known;
  for (const Model& model : models) {
    if (!model.tracks()) continue;
    names.push_back(model.name());
    if (!is_of_model(zone, model)) continue;
    for (const std::string& label : model.labels())
      if (known.insert(label).second) labels.push_back(label);
  }
  if (names.empty())
    fail(ErrorCode::kInvalidArgument,
         "the {} '{}' counts tracked objects, but no model tracks any: run a detector with --track",
         to_string(zone.kind), zone.name);
  if (!zone.model.empty() && std::ranges::find(names, zone.model) == names.end())
    fail(ErrorCode::kInvalidArgument, "the {} '{}' is for the model '{}', but the models that track objects are {}",
         to_string(zone.kind), zone.name, zone.model, some_of(names));
  for (const std::string& each : zone.classes)
    if (!known.contains(each))
      fail(ErrorCode::kInvalidArgument, "the {} '{}' counts the class '{}', but {}", to_string(zone.kind), zone.name,
           each, labels.empty() ? "the model's classes have no names" : "the classes are " + some_of(labels));
}

/// The zones must be in the frames of SOURCE, as far as their size is known.
void check_place(std::span<const Zone* const> zones, const SourceInfo& source) {
  if (source.width <= 0 || source.height <= 0) return;
  for (const Zone* zone : zones)
    if (const std::string misfit = misfit_of(*zone, source.width, source.height); !misfit.empty())
      fail(ErrorCode::kInvalidArgument, "{}: {}", source.name, misfit);
}

}  // namespace

StreamZones::StreamZones(std::vector<Zone> zones, std::span<const Source> sources, std::span<const Model> models,
                         std::chrono::nanoseconds keep)
    : zones_(std::move(zones)), models_(models.size()), places_(sources.size() * models.size()) {
  check_zones(zones_);
  for (const Zone& zone : zones_) {
    check_source(zone, sources);
    check_model(zone, models);
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    const SourceInfo& source = sources[i / models_].info();
    for (const Zone& zone : zones_)
      if (is_of_source(zone, i / models_, source) && is_of_model(zone, models[i % models_]))
        place.zones.push_back(&zone);
    check_place(place.zones, source);
    if (!place.zones.empty()) place.counter = std::make_unique<ZoneCounter>(place.zones, keep);
  }
}

void StreamZones::update(FrameRun& run) {
  for (std::size_t i = 0; i < run.done; ++i) {
    Place& place = places_[run.lane * models_ + i];
    if (!place.counter) continue;
    FrameRun::Output& output = run.outputs[i];
    warn_of_misfits(place, output.result);
    place.counter->update(output.result);
    output.storage.add_zones(place.counter->states(), place.counter->events(), output.result);
  }
}

/// Once for each size of the frames.
void StreamZones::warn_of_misfits(Place& place, const Result& result) const {
  if (place.width == result.width && place.height == result.height) return;
  place.width = result.width;
  place.height = result.height;
  for (const Zone* zone : place.zones) {
    if (const std::string misfit = misfit_of(*zone, result.width, result.height); !misfit.empty())
      log(LogLevel::kWarning, "{}: {}", result.source, misfit);
    if (is_on_edge(*zone, result.width, result.height))
      log(LogLevel::kWarning,
          "{}: the line '{}' is on the frame's edge, and objects are never beyond it: it counts nothing; move it "
          "inwards",
          result.source, zone->name);
  }
}

std::vector<ZoneSummary> StreamZones::summaries() const {
  std::vector<ZoneSummary> all;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].counter) continue;
    for (ZoneSummary& each : places_[i].counter->summaries()) {
      each.stream = i / models_;
      each.model = i % models_;
      all.push_back(std::move(each));
    }
  }
  return all;
}

}  // namespace saccade
