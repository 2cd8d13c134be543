#pragma once

namespace saccade::app {

/// Call it first. From then on Ctrl-C, SIGTERM, SIGHUP and other terminating signals end the program at once, as by
/// default, but temporary files and folders are removed.
void catch_signals();

/// Whether Ctrl-C, SIGTERM or SIGHUP requested an orderly end. After the first call, the first of these signals only
/// sets this flag, so the caller must keep polling and then finish its outputs. Loading, warm-up and the measurement of
/// ceilings come before the first call, because they cannot poll inside library calls.
bool interrupted();

/// Requests that end, as the first of these signals does. Any thread.
void interrupt() noexcept;

/// From now on SIGUSR1 requests a snapshot of a run and does not end the program.
void catch_snapshot_requests();

/// Whether a snapshot was requested since the last call.
bool take_snapshot_request();

}  // namespace saccade::app
