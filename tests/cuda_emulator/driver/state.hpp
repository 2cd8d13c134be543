#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cuda/driver/driver_api.hpp"

// State shared by the emulated driver's entry points. Handles are pointers to these objects.
namespace saccade::emulator {

using namespace cuda;

/// One piece of work of a stream or graph.
using Operation = std::function<CUresult()>;

// Results that the backend does not name.
inline constexpr auto kInvalidImage = static_cast<CUresult>(200);
inline constexpr auto kInvalidContext = static_cast<CUresult>(201);
inline constexpr auto kInvalidHandle = static_cast<CUresult>(400);
inline constexpr auto kNotFound = static_cast<CUresult>(500);
inline constexpr auto kNotPermitted = static_cast<CUresult>(800);
inline constexpr auto kNotSupported = static_cast<CUresult>(801);
inline constexpr auto kCaptureUnsupported = static_cast<CUresult>(900);
inline constexpr auto kIllegalState = static_cast<CUresult>(401);
inline constexpr auto kInvalidClusterSize = static_cast<CUresult>(912);
inline constexpr auto kCaptureUnjoined = static_cast<CUresult>(904);
inline constexpr auto kCapturedEvent = static_cast<CUresult>(907);
inline constexpr auto kCaptureWrongThread = static_cast<CUresult>(908);

/// Preconditions of an entry point.
enum class Needs {
  kNothing,
  kInit,
  kContext,
  kNoCapture,  ///< a context, and no capture in this thread, which would be invalidated
};

/// Start of every entry point: logs the call; returns an injected or precondition error, or CUDA_SUCCESS.
CUresult begin_call(const char* function, Needs needs);
#define SACCADE_BEGIN(function, needs) \
  if (const CUresult early = begin_call(#function, needs); early != CUDA_SUCCESS) return early

/// While set, this thread executes a host function and may not call the driver.
void set_in_host_function(bool in);
/// Sets a sticky device error, which every later call returns.
CUresult break_device(CUresult result);

/// 10 * major + minor.
int capability();

/// Live handles of one kind.
template <typename T>
class Handles {
 public:
  T* add(std::shared_ptr<T> made) {
    const std::scoped_lock lock(mutex_);
    return live_.emplace(made.get(), std::move(made)).first->first;
  }
  /// Null: no such handle.
  std::shared_ptr<T> find(T* handle) {
    const std::scoped_lock lock(mutex_);
    const auto found = live_.find(handle);
    return found == live_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> take(T* handle) {
    const std::scoped_lock lock(mutex_);
    auto found = live_.extract(handle);
    return found.empty() ? nullptr : std::move(found.mapped());
  }
  std::vector<std::shared_ptr<T>> all() {
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<T>> result;
    for (auto& [handle, owner] : live_) result.push_back(owner);
    return result;
  }

 private:
  std::mutex mutex_;
  std::map<T*, std::shared_ptr<T>> live_;
};

/// Never destroyed: destructors at exit may still call.
template <typename T>
Handles<T>& handles() {
  static auto* all = new Handles<T>;
  return *all;
}

}  // namespace saccade::emulator

namespace saccade::cuda {

/// Work is deferred until a call synchronises, so that a missing synchronisation is visible.
struct CUstream_st {
  std::mutex running;  ///< held while its work runs
  std::mutex mutex;    ///< of the rest
  std::deque<emulator::Operation> pending;
  bool capturing = false;
  bool invalidated = false;  ///< capture invalidated
  std::thread::id capturer;
  std::vector<emulator::Operation> captured;           ///< by this stream and by streams that forked from it
  std::shared_ptr<CUstream_st> origin;                 ///< the capture that this stream joined; null: its own
  std::vector<std::shared_ptr<CUstream_st>> branches;  ///< streams that joined its capture; capturing thread only
  std::size_t last_captured = 0;                       ///< position of its last captured work in the origin's
  std::size_t joined = 0;                              ///< how much of it the origin has waited for
  /// Other streams of the capture that this one has waited for, and how much of their work.
  std::vector<std::pair<std::shared_ptr<CUstream_st>, std::size_t>> awaited;
};

struct CUgraph_st {
  std::vector<emulator::Operation> operations;
};

struct CUgraphExec_st {
  std::shared_ptr<const std::vector<emulator::Operation>> operations;
};

struct CUevent_st {
  /// One record of an event, which may outlive it.
  struct Record {
    std::weak_ptr<CUstream_st> stream;
    bool captured = false;
    std::size_t place = 0;  ///< position in the capture
    std::atomic<bool> done{false};
    std::atomic<long long> tick{0};  ///< pieces of work completed before it
  };
  bool timed = true;
  std::shared_ptr<Record> record;  ///< latest record; null: none
};

}  // namespace saccade::cuda

namespace saccade::emulator {

/// Maximum shared memory per block, by capability.
int most_shared_bytes();
/// Memory of the device.
std::size_t memory_bytes();

/// Enqueues work on STREAM.
CUresult enqueue(CUstream stream, Operation operation);
/// Stops at the first failure.
CUresult run(const std::vector<Operation>& operations);
bool is_capturing(CUstream stream);
/// Makes STREAM wait for RECORD; under capture STREAM joins it.
CUresult wait_for(CUstream stream, const std::shared_ptr<CUevent_st::Record>& record);
/// Executes all pending work of STREAM; with RECORD, up to that.
CUresult drain(CUstream_st& stream, const CUevent_st::Record* record = nullptr);
/// Executes all pending work of all streams.
CUresult drain_all();
/// Called by entry points that may not be captured: invalidates this thread's captures; returns whether there were any.
bool invalidate_captures();
/// Pieces of work completed: the device's clock.
long long ticks();

/// Whether all BYTES from ADDRESS on are live device or pinned memory.
bool is_device_memory(CUdeviceptr address, std::size_t bytes);
bool is_pinned(const void* address);
/// A synchronous copy has filled memory at ADDRESS.
void note_upload(CUdeviceptr address);
/// Work on a stream writes memory at ADDRESS, or may.
void note_work_on(CUdeviceptr address);
/// Device or pinned memory whose contents may depend on work on a stream. Constants do not: device memory filled by
/// synchronous copies and pinned memory, as long as no asynchronous copy and no kernel's non-const pointer leads there.
bool is_variable(const void* address);
/// Memory that another process can map.
struct Exported {
  int file = -1;
  std::size_t whole = 0;  ///< size of the file: with the guards
  std::size_t bytes = 0;
};
/// The device memory at ADDRESS; nullopt: it can't be exported.
std::optional<Exported> exported(CUdeviceptr address);
/// The BYTES at ADDRESS are device memory of another process.
void add_imported(CUdeviceptr address, std::size_t bytes);
void remove_imported(CUdeviceptr address);
int live_allocations();
int live_modules();
/// Null: no such function.
CUfunc_st* find_function(CUfunction function);
/// Aborts if guards around ADDRESS were overwritten; WHO names the writer.
void expect_guards(CUdeviceptr address, const char* who);

}  // namespace saccade::emulator
