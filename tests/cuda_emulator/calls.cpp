#include "calls.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>
#include <string_view>
#include <vector>

#include "emulator.hpp"

namespace saccade::emulator {
namespace {

struct Failure {
  int after = 0;
  int result = 0;
};

struct Calls {
  std::mutex mutex;
  std::vector<std::string> kernels;
  std::vector<const char*> functions;
  std::map<std::string, Failure, std::less<>> failures;

  Calls() { read(setting("SACCADE_EMULATOR_FAIL", "")); }

  /// "cuMemAlloc_v2:3:2,nvrtcCompileProgram:0:6": function, successful calls before the failure, result.
  void read(const std::string& text) {
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');) {
      const std::size_t first = item.find(':');
      const std::size_t second = item.find(':', first + 1);
      if (first == std::string::npos || second == std::string::npos) continue;
      failures[item.substr(0, first)] = {std::atoi(item.c_str() + first + 1), std::atoi(item.c_str() + second + 1)};
    }
  }
};

Calls& calls() {
  static auto* calls = new Calls;  // streams may be destroyed after all static objects
  return *calls;
}

template <typename List>
const char* lines(const List& list) {
  thread_local std::string text;
  text.clear();
  for (const auto& line : list) text += line, text += '\n';
  return text.c_str();
}

}  // namespace

int note_call(const char* function) {
  const std::scoped_lock lock(calls().mutex);
  calls().functions.push_back(function);
  const auto found = calls().failures.find(std::string_view(function));
  if (found == calls().failures.end() || found->second.after-- > 0) return 0;
  const int result = found->second.result;
  calls().failures.erase(found);
  return result;
}

void note_kernel(const std::string& name) {
  const std::scoped_lock lock(calls().mutex);
  calls().kernels.push_back(name);
}

void forget_calls() {
  const std::scoped_lock lock(calls().mutex);
  calls().functions.clear();
  calls().kernels.clear();
  calls().failures.clear();
}

std::string setting(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

const std::string& cache_folder() {
  static const std::string folder = [] {
    const std::string path = setting("SACCADE_EMULATOR_CACHE", SACCADE_EMULATOR_CACHE);
    std::filesystem::create_directories(path);
    return path;
  }();
  return folder;
}

}  // namespace saccade::emulator

using saccade::emulator::calls;

void emulator_fail(const char* function, int after, int result) {
  const std::scoped_lock lock(calls().mutex);
  calls().failures[function] = {after, result};
}

const char* emulator_calls() {
  const std::scoped_lock lock(calls().mutex);
  return saccade::emulator::lines(calls().functions);
}

const char* emulator_kernels() {
  const std::scoped_lock lock(calls().mutex);
  return saccade::emulator::lines(calls().kernels);
}
