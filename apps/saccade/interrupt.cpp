#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/temporaries.hpp"

namespace saccade::app {
namespace {

std::atomic<bool> is_interrupted{false};
std::atomic<bool> is_looked_at{false};
std::atomic<bool> is_snapshot_wanted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// Signals from users and supervisors, and from limits and timers.
constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kEnding[] = {SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF};

pid_t process_of_handlers = 0;

/// Performs the signal's default action.
void end_by(int signal) {
  if (getpid() == process_of_handlers) remove_temporaries();  // not in a forked child before its exec
  std::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signal);
}

/// Libraries may call exit().
void clean_up_at_exit() {
  if (getpid() == process_of_handlers) remove_temporaries();
}

void request_stop(int signal) {
  if (is_looked_at && !is_interrupted.exchange(true)) return;
  end_by(signal);
}

}  // namespace

void catch_signals() {
  process_of_handlers = getpid();
  std::atexit(clean_up_at_exit);
  struct sigaction action {};
  sigfillset(&action.sa_mask);
  action.sa_handler = request_stop;
  for (const int signal : kStopSignals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // ignored by nohup
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
  action.sa_handler = end_by;
  for (const int signal : kEnding) sigaction(signal, &action, nullptr);
}

void interrupt() noexcept { is_interrupted = true; }

bool interrupted() {
  is_looked_at = true;
  return is_interrupted;
}

void catch_snapshot_requests() {
  struct sigaction action {};
  action.sa_handler = [](int) { is_snapshot_wanted = true; };
  action.sa_flags = SA_RESTART;  // or a blocking write to a pipe would fail
  sigaction(SIGUSR1, &action, nullptr);
}

bool take_snapshot_request() { return is_snapshot_wanted.exchange(false); }

}  // namespace saccade::app
