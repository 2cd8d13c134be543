#include <atomic>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "cpu/loops/parallel.hpp"

namespace saccade::cpu {
namespace {

/// Starts COUNT threads at once and ends them; false if the system refuses one.
bool can_start(int threads) {
  std::latch gate(1);
  std::vector<std::thread> started;
  bool all = true;
  try {
    started.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) started.emplace_back([&gate] { gate.wait(); });
  } catch (const std::system_error&) {
    all = false;
  } catch (const std::bad_alloc&) {
    all = false;
  }
  gate.count_down();
  for (std::thread& thread : started) thread.join();
  return all;
}

}  // namespace

void set_team_size(int threads) {
  // The maximum so far: what was possible once usually is again.
  static std::atomic<int> known{1};
  if (threads > known) {
    if (!can_start(threads - 1))
      fail(ErrorCode::kUnsupported,
           "{} threads can't be started: memory or the limit of processes is used up; take fewer with --threads N",
           threads);
    known = threads;
  }
  omp_set_num_threads(threads);
}

}  // namespace saccade::cpu
