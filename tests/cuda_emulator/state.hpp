#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda/driver/driver_api.hpp"

// What the emulated driver's functions share. Handles are pointers to these, as the driver's own are to its.
namespace saccade::emulator {

using namespace cuda;

/// One piece of a stream's or graph's work.
using Operation = std::function<CUresult()>;

// Results that the product has no name for.
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

/// What a function needs before it does anything.
enum class Needs {
  kNothing,
  kInit,
  kContext,
  kNoCapture,  ///< a context, and that this thread captures no stream: else the capture is spoilt
};

/// Every function begins so: logs the call; what it must answer at once, or CUDA_SUCCESS.
CUresult begin_call(const char* function, Needs needs);
#define SACCADE_BEGIN(function, needs) \
  if (const CUresult early = begin_call(#function, needs); early != CUDA_SUCCESS) return early

/// While true, this thread is one of the driver's, and may not call it.
void set_in_host_function(bool in);
/// An error of the device's: every later call answers it.
CUresult break_device(CUresult result);

/// 10 * major + minor.
int capability();

/// The live handles of one kind.
template <typename T>
class Handles {
 public:
  T* add(std::shared_ptr<T> made) {
    const std::scoped_lock lock(mutex_);
    return live_.emplace(made.get(), std::move(made)).first->first;
  }
  /// Null: there is no such handle.
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

/// Never destroyed: what the process's end destroys may still call.
template <typename T>
Handles<T>& handles() {
  static auto* all = new Handles<T>;
  return *all;
}

}  // namespace saccade::emulator

namespace saccade::cuda {

/// Work waits until somebody waits for it, so that what was not waited for is seen not to be there.
struct CUstream_st {
  std::mutex running;  ///< held while its work runs
  std::mutex mutex;    ///< of the rest
  std::vector<emulator::Operation> pending;
  bool capturing = false;
  bool spoilt = false;  ///< by a call that may not be captured
  std::thread::id capturer;
  std::vector<emulator::Operation> captured;           ///< of its own and of streams that forked from it
  std::shared_ptr<CUstream_st> origin;                 ///< whose capture this one joined; null: its own
  std::vector<std::shared_ptr<CUstream_st>> branches;  ///< those that joined its own, by the capturing thread alone
  std::size_t last_captured = 0;                       ///< how far the origin's work had come with its last piece
  std::size_t joined = 0;                              ///< of that, what the origin waits for
};

struct CUgraph_st {
  std::vector<emulator::Operation> operations;
};

struct CUgraphExec_st {
  std::shared_ptr<const std::vector<emulator::Operation>> operations;
};

struct CUevent_st {
  /// One record of it, which may outlive it.
  struct Record {
    std::weak_ptr<CUstream_st> stream;
    bool captured = false;
    std::size_t place = 0;  ///< in the capture
    std::atomic<bool> done{false};
    std::atomic<long long> tick{0};  ///< pieces of work that were done before it
  };
  bool timed = true;
  std::shared_ptr<Record> record;  ///< the last one; null: there is none
};

}  // namespace saccade::cuda

namespace saccade::emulator {

/// What a block may have of shared memory, by capability.
int most_shared_bytes();
/// What the device has.
std::size_t memory_bytes();

/// STREAM's next piece of work.
CUresult enqueue(CUstream stream, Operation operation);
/// Until the first that fails.
CUresult run(const std::vector<Operation>& operations);
bool is_capturing(CUstream stream);
/// Makes STREAM wait for what RECORD stands behind; in a capture STREAM becomes part of it.
CUresult wait_for(CUstream stream, const std::shared_ptr<CUevent_st::Record>& record);
/// Does all that STREAM has to do.
CUresult drain(CUstream_st& stream);
/// The same of all streams, as calls do that wait for the device.
CUresult drain_all();
/// A call of this thread's that may not be captured: spoils its captures; whether there are any.
bool spoil_captures();
/// How much work was done: the device's clock.
long long ticks();

/// Whether all BYTES from ADDRESS on are in live device memory or pinned host memory.
bool is_device_memory(CUdeviceptr address, std::size_t bytes);
bool is_pinned(const void* address);
int live_allocations();
int live_modules();
/// Null: there is no such function.
CUfunc_st* find_function(CUfunction function);
/// Ends the process if memory around ADDRESS was written past its end; WHO names the writer.
void expect_guards(CUdeviceptr address, const char* who);

}  // namespace saccade::emulator
