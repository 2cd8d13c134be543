#pragma once

#include <saccade/saccade.hpp>
#include <span>
#include <string>
#include <vector>

#include "pipeline_view.hpp"
#include "run_flags.hpp"

namespace saccade::app {

using Sinks = std::vector<PipelineSink>;

/// Whether an output is tried again after an error: a file can be read again; a camera can't, and the disk may have
/// room again. A closed pipe stays closed.
bool is_retried(const std::string& path, std::span<const Source> sources);

/// VIEW will show the pipeline of the sinks.
Sinks open_sinks(const RunFlags& flags, PipelineView& view, std::span<const Source> sources,
                 std::span<const Model> models);

/// Where frames are drawn if no flag names an output; null if some does, or nothing is to be written.
FolderSink* add_drawn(const RunFlags& flags, std::span<const Source> sources, Sinks& sinks);

/// With --json, the events of zones are lines of standard output.
void add_events(const RunFlags& flags, Sinks& sinks);

}  // namespace saccade::app
