#pragma once

namespace saccade::app {

/// Installs a terminate handler: if memory or threads are exhausted where no exception may propagate (a library's
/// callback, a thread without a handler), the program ends with a message and kFailed instead of a signal.
void tell_exhaustion();

}  // namespace saccade::app
