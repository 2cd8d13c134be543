#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "media/isolated/serve_source.hpp"

namespace saccade {

/// Reads a source in a child process, so that a crash of a decoder or of a camera's library costs only the frames that
/// the child held. The child is started again: at once, then after a growing pause of up to a second. A live source
/// goes on; another one is read once more up to the last delivered frame. A frame that crashes its reader three times
/// is skipped, as kCorrupt. A child that neither sends anything, nor begins with another packet, nor waits for a buffer
/// for PATIENCE is killed. Frames lie in shared memory, which both processes map. HELPER is the program to run. Throws
/// what opening the source in this process would throw, and Error (kNotFound, kIo) if no child can be started.
std::unique_ptr<FrameReader> open_isolated(isolated::SourceSpec spec);
std::unique_ptr<FrameReader> open_isolated(isolated::SourceSpec spec, std::filesystem::path helper,
                                           std::chrono::milliseconds patience = std::chrono::seconds(30));

}  // namespace saccade
