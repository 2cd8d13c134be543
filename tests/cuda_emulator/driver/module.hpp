#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/driver/driver_api.hpp"
#include "device/object.hpp"

namespace saccade::emulator {

/// A reference-counted open shared object.
class LoadedObject {
 public:
  /// IMAGE is an ELF file, whose size is in its header, or a text that begins with kUnbuilt; null if it is neither.
  static std::shared_ptr<LoadedObject> open(const void* image);
  /// LIBRARY is null if OBJECT outlives this by other means.
  explicit LoadedObject(void* library, const saccade_emulator::Object& object) : library_(library), object_(object) {}
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;
  ~LoadedObject();

  const saccade_emulator::Object& object() const { return object_; }
  /// Static __shared__ bytes of its kernels.
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
  int dynamic_bytes = 0;  ///< maximum dynamic shared memory of a launch
};

struct CUmod_st {
  std::shared_ptr<emulator::LoadedObject> object;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};

}  // namespace saccade::cuda
