#pragma once

#include "base/output_file.hpp"
#include "measure/profile/profile.hpp"

namespace saccade {

/// Writes PROFILE's trace as JSON in the Trace Event Format of Perfetto and chrome://tracing: a thread per source with
/// its captures, one for the models with frames > stages > launches, and the waits in the queue as asynchronous spans,
/// since they overlap. Times in microseconds since the first capture; every span has its stream and frame, as the JSON
/// lines do. Closes the file. Throws Error (kIo).
void write_trace(const Profile& profile, OutputFile& file);

}  // namespace saccade
