#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "measure/ceiling_kernels.hpp"
#include "measure/ceilings.hpp"
#include "measure/cpu_caches.hpp"
#include "measure/library_ceilings.hpp"
#include "measure/team.hpp"

// Other programs, and other guests of the host, take the cores and the memory away at any time, so nothing is measured
// in one piece: every kernel gets a window of a fraction of a millisecond in each of some dozens of rounds, alone and
// on all threads, and the best window counts. A scheduler's slice is several windows long, so some of them have the
// machine to themselves even where it is busy.
namespace saccade {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr auto kBudget = milliseconds(3500);
constexpr double kWindow = 2e-4;  // seconds
constexpr std::int64_t kMemorySlice = 8 << 20;

/// Memory that huge pages may back, so that the translation of addresses limits nothing.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail(ErrorCode::kIo, "no {} MB of memory are left to measure with", bytes >> 20);
    data_.reset(static_cast<std::byte*>(memory), [bytes](std::byte* data) { munmap(data, bytes); });
    madvise(memory, bytes, MADV_HUGEPAGE);
    std::memset(memory, 1, bytes);
  }
  std::byte* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::shared_ptr<std::byte> data_;
};

double& rate_of(Bandwidth& bandwidth, Traffic traffic) {
  switch (traffic) {
    case Traffic::kRead: return bandwidth.read;
    case Traffic::kWrite: return bandwidth.write;
    case Traffic::kCopy: return bandwidth.copy;
    case Traffic::kMixed: return bandwidth.mixed;
  }
  return bandwidth.mixed;
}

/// Calls WORK(repeats) until one call takes a window, and gives the number of repeats for that.
template <typename Work>
std::int64_t repeats_for_a_window(const Work& work) {
  for (std::int64_t repeats = 1;; repeats *= 2) {
    const auto start = Clock::now();
    work(repeats);
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    if (took >= kWindow || repeats > (std::int64_t{1} << 40)) return repeats;
  }
}

/// One kind of arithmetic, on one core and on all.
class ComputeProbe {
 public:
  explicit ComputeProbe(const ComputeKernel& kernel) : kernel_(kernel), rounds_(repeats_for_a_window(kernel.run)) {}

  void measure(Team& one, Team& all, ComputeCeiling& best) const {
    best.one_core = std::max(best.one_core, rate(one));
    best.all = std::max({best.all, rate(all), best.one_core});
  }

 private:
  double rate(Team& team) const {
    const double took = team.time([this](int) { kernel_.run(rounds_); });
    return kernel_.operations * static_cast<double>(rounds_) * team.threads() / took;
  }

  ComputeKernel kernel_;
  std::int64_t rounds_;
};

/// One way to move memory through one level of it.
class StreamProbe {
 public:
  /// Each thread works on AREA bytes of its own, SHIFT bytes apart from a regular place; a level's worth of them for
  /// all threads together where it is SHARED. AREA 0: memory, a slice that nobody touched for long.
  StreamProbe(const StreamKernel& kernel, std::int64_t area, bool shared, std::size_t shift)
      : kernel_(kernel), area_(area), shared_(shared), shift_(shift) {}

  void measure(Team& one, Team& all, const Buffer& buffer, std::size_t& cursor, MemoryCeiling& best) {
    double& alone = rate_of(best.one_core, kernel_.traffic);
    double& together = rate_of(best.all, kernel_.traffic);
    alone = std::max(alone, rate(one, buffer, cursor, repeats_alone_));
    together = std::max({together, rate(all, buffer, cursor, repeats_together_), alone});
  }

 private:
  double rate(Team& team, const Buffer& buffer, std::size_t& cursor, std::int64_t& repeats) {
    const auto threads = static_cast<std::size_t>(team.threads());
    const bool is_memory = area_ == 0;
    const std::int64_t whole = is_memory ? kMemorySlice : area_;
    const auto area = static_cast<std::size_t>(shared_ ? whole / team.threads() : whole);
    const auto parts = static_cast<std::size_t>(kernel_.moved());
    const std::size_t bytes = (area - shift_) / parts / kStreamStep * kStreamStep;
    if (is_memory && cursor + area * threads > buffer.bytes()) cursor = 0;
    std::byte* base = buffer.data() + (is_memory ? cursor : 0);
    if (is_memory) cursor += area * threads;
    const auto work = [&](int rank, std::int64_t count) {
      std::byte* from = base + area * static_cast<std::size_t>(rank);
      // The destination lies behind the source, or behind both.
      std::byte* to = parts == 1 ? from : from + bytes * (parts - 1) + shift_;
      for (std::int64_t i = 0; i < count; ++i) kernel_.run(to, from, bytes);
    };
    if (repeats == 0) repeats = is_memory ? 1 : repeats_for_a_window([&](std::int64_t count) { work(0, count); });
    if (!is_memory) team.time([&](int rank) { work(rank, 1); });  // brings the data where it is to come from
    const double took = team.time([&](int rank) { work(rank, repeats); });
    return kernel_.moved() * static_cast<double>(bytes * threads) * static_cast<double>(repeats) / took;
  }

  StreamKernel kernel_;
  std::int64_t area_;
  bool shared_;
  std::size_t shift_;
  std::int64_t repeats_alone_ = 0;
  std::int64_t repeats_together_ = 0;
};

/// Nanoseconds of one call, the best of some short windows.
template <typename Call>
Nanoseconds cost_of(const Call& call) {
  constexpr int kCalls = 1000;
  Nanoseconds best(std::numeric_limits<double>::infinity());
  for (int window = 0; window < 20; ++window) {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    best = std::min(best, Nanoseconds(Clock::now() - start) / kCalls);
  }
  return best;
}

/// All that is measured by turns.
class Meter {
 public:
  explicit Meter(int threads) : caches_(cpu_caches()), buffer_(buffer_bytes(threads)) {
    for (const ComputeKernel& kernel : compute_kernels()) {
      computes_.emplace_back(kernel);
      best_.compute.push_back({kernel.instructions, kernel.precision});
    }
    best_.threads = threads;
    for (const CpuCache& cache : caches_) {
      best_.memory.push_back({.level = cache.name, .capacity = cache.total(threads)});
      add_streams(cache);
    }
    best_.memory.push_back({.level = "memory"});
    streams_.emplace_back();
    for (const StreamKernel& kernel : stream_kernels()) streams_.back().emplace_back(kernel, 0, true, 0);
  }

  Ceilings run(const std::function<void(double share)>& progress) {
    best_.clock = cost_of([] { static_cast<void>(Clock::now()); });
    best_.syscall = cost_of([] { syscall(SYS_getppid); });
    LibraryProbe library(best_.threads);
    best_.device = library.device();
    const auto start = Clock::now();
    for (auto passed = Clock::duration::zero(); passed < kBudget; passed = Clock::now() - start) {
      if (progress) progress(std::chrono::duration<double>(passed) / kBudget);
      round();
      library.measure(best_);
    }
    return std::move(best_);
  }

 private:
  std::size_t buffer_bytes(int threads) const {
    std::int64_t bytes = 0;
    for (const CpuCache& cache : caches_) bytes += cache.total(threads);
    return static_cast<std::size_t>(std::clamp<std::int64_t>(4 * bytes, 16 * kMemorySlice, std::int64_t{1} << 30));
  }

  /// Two sizes of what the threads work on, so that neither a cache's other contents nor the overhead of short loops
  /// decides, and destinations at two distances from their sources: loads may wait for stores 4096 bytes away.
  void add_streams(const CpuCache& cache) {
    auto& probes = streams_.emplace_back();
    const bool shared = cache.sharers > 1 && cache.bytes > (4 << 20);
    const std::int64_t sizes[] = {cache.bytes / 2, cache.bytes * 3 / 4};
    for (const StreamKernel& kernel : stream_kernels())
      for (std::size_t i = 0; i < 2; ++i)
        probes.emplace_back(kernel, shared ? sizes[i] / 2 : sizes[i], shared, i == 0 ? 0 : 2112);
  }

  void round() {
    Team one(1);
    Team all(best_.threads);
    for (std::size_t i = 0; i < computes_.size(); ++i) computes_[i].measure(one, all, best_.compute[i]);
    for (std::size_t level = 0; level < streams_.size(); ++level)
      for (StreamProbe& probe : streams_[level]) probe.measure(one, all, buffer_, cursor_, best_.memory[level]);
  }

  std::vector<CpuCache> caches_;
  Buffer buffer_;
  std::size_t cursor_ = 0;
  std::vector<ComputeProbe> computes_;
  std::vector<std::vector<StreamProbe>> streams_;  // by level
  Ceilings best_;
};

}  // namespace

Ceilings measure_ceilings(int threads, const std::function<void(double share)>& progress) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return Meter(threads > 0 ? threads : cores).run(progress);
}

}  // namespace saccade
