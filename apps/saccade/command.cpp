#include "command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <new>
#include <saccade/error.hpp>
#include <saccade/files.hpp>
#include <saccade/log.hpp>
#include <saccade/unrecognised_model.hpp>
#include <system_error>

#include "exhaustion.hpp"
#include "flags/binder.hpp"
#include "flags/command_line.hpp"
#include "interrupt.hpp"
#include "report.hpp"
#include "terminal_style.hpp"

namespace saccade::app {
namespace {

/// Prints MESSAGE as one line; untrusted names in it are escaped.
void print_error(std::string message) {
  constexpr std::size_t kLongest = 4000;
  if (message.size() > kLongest) message = message.substr(0, kLongest) + " ...";
  const TerminalStyle style{is_colored(STDERR_FILENO)};
  print_aside(fmt::format("{} {}\n", style.error("saccade: error:"), printable(message)));
}

/// The message for exhausted resources; "bug in saccade" is for bugs only.
std::string message_of(const std::system_error& error) {
  if (error.code() == std::errc::resource_unavailable_try_again)
    return "no further thread can be started: out of memory, or the process limit is reached";
  return error.code().message();
}

int guarded(const std::function<int()>& action) {
  try {
    const int code = action();
    if (code == kOk && lost_messages()) throw Error(ErrorCode::kIo, "can't write messages to standard error");
    return code;
  } catch (const UnrecognisedModel& error) {
    print_error(error.what());
    print_aside(printable_lines("\n" + error.card()));
  } catch (const Error& error) {
    print_error(error.what());
    if (error.code() == ErrorCode::kConflict) return kUsage;
  } catch (const UsageError& error) {
    print_error(error.what());
    return kUsage;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    print_error(fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::system_error& error) {
    print_error(message_of(error));
  } catch (const std::exception& error) {
    print_error(fmt::format("bug in saccade: {}; please report it", error.what()));
  }
  return kFailed;
}

}  // namespace

int run_command(int argc, char** argv) {
  catch_signals();
  tell_exhaustion();
  keep_standard_streams();
  protect_files();
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  choose_color(arguments);
  return guarded([&] { return CommandLine().parse(arguments)(); });
}

}  // namespace saccade::app
