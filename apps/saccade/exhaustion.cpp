#include "exhaustion.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "base/temporaries.hpp"
#include "command.hpp"

namespace saccade::app {
namespace {

std::terminate_handler usual_end = nullptr;

/// The message for the exhausted resource; empty for other errors.
std::string_view what_ran_out() {
  const std::exception_ptr thrown = std::current_exception();
  if (!thrown) return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return "saccade: error: out of memory\n";
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again || error.code() == std::errc::not_enough_memory)
      return "saccade: error: no further thread can be started: out of memory, or the process limit is reached\n";
  } catch (...) {
  }
  return {};
}

void last_words() {
  const std::string_view text = what_ran_out();
  if (!text.empty()) {
    // Must not allocate.
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    remove_temporaries();
    _exit(kFailed);
  }
  if (usual_end != nullptr) usual_end();
  std::abort();
}

}  // namespace

void tell_exhaustion() { usual_end = std::set_terminate(last_words); }

}  // namespace saccade::app
