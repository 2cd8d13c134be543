#include "interrupt.hpp"

#include <csignal>

namespace saccade::app {
namespace {

volatile std::sig_atomic_t is_interrupted = 0;

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { is_interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return is_interrupted != 0; }

}  // namespace saccade::app
