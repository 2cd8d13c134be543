#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "media/frame_reader.hpp"

namespace saccade::isolated {

/// What a child opens: a URI as open_reader() takes it, or images by their names.
struct SourceSpec {
  std::string uri;                  ///< or the name of the images
  std::vector<std::string> images;  ///< paths; empty: the URI
  ReaderOptions options;
};

using OpenSource = std::function<std::unique_ptr<FrameReader>(const SourceSpec& spec)>;

/// Opens SPEC in this process.
std::unique_ptr<FrameReader> open_spec(const SourceSpec& spec);

/// The main function of saccade-source, which ChildProcess starts: opens what the parent names, with OPEN, and sends
/// its frames until it is cancelled or the parent ends. ARGUMENTS[1] is the parent's process ID. Does not return.
[[noreturn]] void serve_source(int count, char** arguments, const OpenSource& open = open_spec);

}  // namespace saccade::isolated
