#pragma once

namespace saccade::app {

/// From now on memory or threads that run out where no exception may pass, in a library's callback or a thread that
/// nobody catches for, end the program with a message and kFailed, as they do everywhere else, not with a signal.
void tell_exhaustion();

}  // namespace saccade::app
