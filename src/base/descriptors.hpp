#pragma once

namespace saccade {

/// Whether DESCRIPTOR, of a new connection, is one of the last that the process may open (RLIMIT_NOFILE). They are kept
/// for files: a server that has none left for these can't load models. Any thread.
bool is_reserved(int descriptor);

}  // namespace saccade
