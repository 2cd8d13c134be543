#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "media/frame_reader.hpp"

namespace saccade {

/// Maximum number of sources of a run: each has a thread and a decoder.
inline constexpr std::size_t kMostSources = 256;

/// Opens URI as open_reader() does, to be read as OPTIONS say. Throws Error like it, and (kInvalidArgument) if OPTIONS
/// are given for images.
std::unique_ptr<FrameReader> open_source(const std::string& uri, const SourceOptions& options);

/// Opens SOURCES in their order, as open_readers() does. Those of a file are each a source of its own, and errors begin
/// with their place.
std::vector<std::unique_ptr<FrameReader>> open_listed(std::span<const ListedSource> sources,
                                                      const SourceOptions& options = {});

/// Opens URIS in their order, to be read as OPTIONS say. One that names no file may be a pattern (*, ?, [...]): its
/// matches replace it, sorted by name. A folder gives its images as one source and each video in it as another. Images
/// of one folder that follow each other are one source, too. Throws Error naming what is missing, empty, damaged or of
/// an unknown kind, a pattern without a match, and (kInvalidArgument) more than kMostSources sources.
std::vector<std::unique_ptr<FrameReader>> open_readers(std::span<const std::string> uris,
                                                       const SourceOptions& options = {});

}  // namespace saccade
