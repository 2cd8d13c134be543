#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/driver/driver_api.hpp"
#include "device/object.hpp"

namespace saccade::emulator {

/// A shared object that is open while anybody needs it.
class LoadedObject {
 public:
  /// Of the bytes at IMAGE, an ELF file whose size stands in it, or a text that begins with kUnbuilt; null where they
  /// are no object of the emulated NVRTC's.
  static std::shared_ptr<LoadedObject> open(const void* image);
  /// LIBRARY is null where OBJECT outlives this by other means.
  explicit LoadedObject(void* library, const saccade_emulator::Object& object) : library_(library), object_(object) {}
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;
  ~LoadedObject();

  const saccade_emulator::Object& object() const { return object_; }
  /// Bytes that its kernels declare __shared__.
  int shared_bytes() const { return static_cast<int>(object_.shared_end - object_.shared_begin); }

 private:
  void* library_;
  const saccade_emulator::Object& object_;
};

}  // namespace saccade::emulator

namespace saccade::cuda {

struct CUfunc_st {
  std::shared_ptr<emulator::LoadedObject> object;
  const saccade_emulator::Entry* entry = nullptr;
  int dynamic_bytes = 0;  ///< that a launch may ask for
};

struct CUmod_st {
  std::shared_ptr<emulator::LoadedObject> object;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};

}  // namespace saccade::cuda
