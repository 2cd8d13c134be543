#pragma once

namespace saccade::app {

/// From now on Ctrl-C and SIGTERM only make interrupted() true, so that a verb can end in order; a second one ends the
/// program at once. A reader of standard output that went away becomes an error to report instead of a signal.
void catch_signals();
bool interrupted();

}  // namespace saccade::app
