#pragma once

namespace saccade::app {

/// Before anything else is done. From now on Ctrl-C, SIGTERM, SIGHUP and the other signals that end a program end this
/// one at once, whatever it is about, as they would without this; but temporary files and folders are gone then.
void catch_signals();

/// Whether Ctrl-C, SIGTERM or SIGHUP asked the verb to end in order. From the first call on the first of these signals
/// does nothing else: who asks, goes on asking, and has something to finish. Loading, warm-ups and measurements of the
/// machine come before that call, since nobody can look between two steps of a library's.
bool interrupted();

}  // namespace saccade::app
