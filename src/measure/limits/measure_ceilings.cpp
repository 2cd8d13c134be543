#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/memory_budget.hpp"
#include "base/processors.hpp"
#include "measure/limits/ceiling_kernels.hpp"
#include "measure/limits/ceilings.hpp"
#include "measure/limits/cpu_caches.hpp"
#include "measure/limits/library_ceilings.hpp"
#include "measure/limits/team.hpp"

// Other programs, and other guests of the host, may take cores and memory bandwidth away at any time, so nothing is
// measured in one piece: every kernel gets a window of a fraction of a millisecond in each of some dozens of rounds, on
// one thread and on all, and the best window counts. A scheduler's time slice is several windows long, so some of them
// are undisturbed even on a busy machine.
namespace saccade {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr auto kBudget = milliseconds(4000);  // including the allocation of memory; the last round may exceed it
constexpr double kWindow = 1e-4;              // seconds
constexpr int kWindows = 4;                   // consecutive, while the threads are synchronized
constexpr std::size_t kLeastOfMemory = 32 << 20;
constexpr std::size_t kMostOfMemory = 1 << 30;

/// Memory that may use huge pages, so that address translation limits nothing.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      fail(ErrorCode::kIo, "less than {} MB of memory are free for the measurement", bytes >> 20);
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

/// Calls WORK(repeats) until one call takes a window, and returns that number of repeats.
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

  /// Operations per second of a team.
  double rate(Team& team) const {
    const double took = team.time(kWindows, [this](int) { kernel_.run(rounds_); });
    return kernel_.operations * static_cast<double>(rounds_) * team.threads() / took;
  }

 private:
  ComputeKernel kernel_;
  std::int64_t rounds_;
};

/// One way to move memory at one level.
class StreamProbe {
 public:
  /// Each thread works on AREA bytes of its own, or all threads on the same if SHARED; destinations are offset by SHIFT
  /// bytes. IS_MEMORY: on an area that is in no cache.
  StreamProbe(const StreamKernel& kernel, std::int64_t area, bool shared, std::size_t shift, bool is_memory = false)
      : kernel_(kernel), area_(area), shift_(shift), shared_(shared), is_memory_(is_memory) {}

  Traffic traffic() const { return kernel_.traffic; }
  /// The best rate so far, in bytes per second.
  double best() const { return best_; }

  /// Bytes per second of a team. CURSOR goes round BUFFER, so that the data was evicted from all caches.
  double rate(Team& team, const Buffer& buffer, std::size_t& cursor) {
    const auto threads = static_cast<std::size_t>(team.threads());
    const auto area = static_cast<std::size_t>(shared_ ? area_ / team.threads() : area_);
    const auto parts = static_cast<std::size_t>(kernel_.moved());
    const std::size_t bytes = (area - shift_) / parts / kStreamStep * kStreamStep;
    if (is_memory_ && cursor + area * threads > buffer.bytes()) cursor = 0;
    std::byte* base = buffer.data() + (is_memory_ ? cursor : 0);
    if (is_memory_) cursor += area * threads;
    const auto work = [&](int rank, std::int64_t count) {
      std::byte* from = base + area * static_cast<std::size_t>(rank);
      // The destination follows the source, or both sources.
      std::byte* to = parts == 1 ? from : from + bytes * (parts - 1) + shift_;
      for (std::int64_t i = 0; i < count; ++i) kernel_.run(to, from, bytes);
    };
    std::int64_t& repeats = threads == 1 ? repeats_alone_ : repeats_together_;
    if (repeats == 0) repeats = is_memory_ ? 1 : repeats_for_a_window([&](std::int64_t count) { work(0, count); });
    // The first window loads a cache; in memory a second window would find the first one's data in the caches.
    const double took = team.time(is_memory_ ? 1 : kWindows, [&](int rank) { work(rank, repeats); });
    const double rate = kernel_.moved() * static_cast<double>(bytes * threads) * static_cast<double>(repeats) / took;
    best_ = std::max(best_, rate);
    return rate;
  }

 private:
  StreamKernel kernel_;
  std::int64_t area_;
  std::size_t shift_;
  bool shared_;
  bool is_memory_;
  std::int64_t repeats_alone_ = 0;
  std::int64_t repeats_together_ = 0;
  double best_ = 0;
};

/// Keeps the two fastest PROBES on one core of each kind of traffic: the suitable form shows at once, and many windows
/// of few probes are better.
void keep_the_best(std::vector<StreamProbe>& probes) {
  std::ranges::stable_sort(probes, std::greater(), &StreamProbe::best);
  std::vector<StreamProbe> kept;
  for (const StreamProbe& probe : probes) {
    const auto same = [&](const StreamProbe& other) { return other.traffic() == probe.traffic(); };
    if (std::ranges::count_if(kept, same) < 2) kept.push_back(probe);
  }
  probes = std::move(kept);
}

/// Nanoseconds per call, the best of some short windows.
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

/// All measurements, taken in turn.
class Meter {
 public:
  explicit Meter(int threads) : caches_(cpu_caches()), buffer_(buffer_bytes(threads)) {
    for (const ComputeKernel& kernel : compute_kernels()) {
      computes_.emplace_back(kernel);
      best_.compute.push_back({kernel.instructions, kernel.precision});
    }
    best_.threads = threads;
    best_.winograd = true;
    for (const CpuCache& cache : caches_) {
      best_.memory.push_back({.level = cache.name, .capacity = cache.total(threads)});
      add_streams(cache);
    }
    best_.memory.push_back({.level = "memory"});
    // More than the caches hold: what they absorb without writing it back is not the memory's rate.
    const std::int64_t area = static_cast<std::int64_t>(buffer_.bytes()) / 2;
    streams_.emplace_back();
    for (const StreamKernel& kernel : stream_kernels()) streams_.back().emplace_back(kernel, area, true, 0, true);
  }

  Ceilings run(const std::function<void(double share)>& progress) {
    best_.clock = cost_of([] { static_cast<void>(Clock::now()); });
    best_.syscall = cost_of([] { syscall(SYS_getppid); });
    LibraryProbe library(best_.threads);
    best_.device = library.device();
    for (int i = 0; i < 2; ++i) round(1, &ComputeCeiling::one_core, &MemoryCeiling::one_core);
    for (auto& probes : streams_) keep_the_best(probes);
    for (auto passed = Clock::duration::zero(); passed < kBudget; passed = Clock::now() - start_) {
      if (progress) progress(std::chrono::duration<double>(passed) / kBudget);

      round(1, &ComputeCeiling::one_core, &MemoryCeiling::one_core);
      round(best_.threads, &ComputeCeiling::all, &MemoryCeiling::all);
      library.measure(best_);
    }
    for (ComputeCeiling& each : best_.compute) each.all = std::max(each.all, each.one_core);
    for (MemoryCeiling& each : best_.memory) raise(each.all, each.one_core);
    return std::move(best_);
  }

 private:
  std::size_t buffer_bytes(int threads) const {
    std::int64_t held = 0;
    for (const CpuCache& cache : caches_) held += cache.total(threads);
    return ceiling_buffer_bytes(static_cast<std::size_t>(held), free_memory());
  }

  /// Two working-set sizes, so that neither other contents of a cache nor the overhead of short loops decides, and two
  /// distances between source and destination: loads may wait for stores 4096 bytes away.
  void add_streams(const CpuCache& cache) {
    auto& probes = streams_.emplace_back();
    const bool shared = cache.sharers > 1 && cache.bytes > (4 << 20);
    const std::int64_t sizes[] = {cache.bytes / 2, cache.bytes * 3 / 4};
    for (const StreamKernel& kernel : stream_kernels())
      for (std::size_t i = 0; i < 2; ++i)
        probes.emplace_back(kernel, shared ? sizes[i] / 2 : sizes[i], shared, i == 0 ? 0 : 2112);
  }

  /// All measurements for a team of so many threads, stored in the given members.
  void round(int threads, double ComputeCeiling::*compute, Bandwidth MemoryCeiling::*memory) {
    Team team(threads);
    const auto keep = [](double& best, double rate) { best = std::max(best, rate); };
    for (std::size_t i = 0; i < computes_.size(); ++i) keep(best_.compute[i].*compute, computes_[i].rate(team));
    for (std::size_t level = 0; level < streams_.size(); ++level)
      for (StreamProbe& probe : streams_[level])
        keep(rate_of(best_.memory[level].*memory, probe.traffic()), probe.rate(team, buffer_, cursor_));
  }

  Clock::time_point start_ = Clock::now();
  std::vector<CpuCache> caches_;
  Buffer buffer_;
  std::size_t cursor_ = 0;
  std::vector<ComputeProbe> computes_;
  std::vector<std::vector<StreamProbe>> streams_;  // by level
  Ceilings best_;
};

}  // namespace

std::size_t ceiling_buffer_bytes(std::size_t caches, std::size_t free) {
  const std::size_t wanted = std::clamp(4 * caches, kLeastOfMemory, kMostOfMemory);
  // Half: the measured models and other programs need the rest.
  const std::size_t bytes = std::min(wanted, free / 2);
  if (bytes < std::max(kLeastOfMemory, std::min(caches, kMostOfMemory)))
    fail(ErrorCode::kUnsupported,
         "only {} of memory are free, too little to measure a machine whose caches hold {}: free some, or give the "
         "ceilings in a file (saccade limits --device-file)",
         readable_bytes(free), readable_bytes(caches));
  if (bytes < std::min(wanted, 2 * caches))
    log(LogLevel::kWarning,
        "memory bandwidth is measured on {}, because only {} are free, and the caches hold {} of it: it may be too "
        "high",
        readable_bytes(bytes), readable_bytes(free), readable_bytes(caches));
  return bytes / (2 * kStreamStep) * (2 * kStreamStep);
}

Ceilings measure_ceilings(int threads, const std::function<void(double share)>& progress) {
  return Meter(threads > 0 ? threads : available_processors()).run(progress);
}

}  // namespace saccade
