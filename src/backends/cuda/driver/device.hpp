#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cuda/driver/driver.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// A compiled kernel of a device; lives as long as the process.
struct Kernel {
  CUfunction function = nullptr;
  int registers = 0;
  int local_bytes = 0;                       ///< per thread: stack and spills
  std::string key;                           ///< digest of source and device
  std::shared_ptr<const std::string> image;  ///< cubin
};

/// One GPU, by its ordinal among the visible ones. Its primary context is shared with other users in the process and
/// never reset. Any thread; a thread calls make_current() before it uses the driver.
class Device {
 public:
  /// Opened at the first call and kept. Throws Error (kNotFound) if there is none of that ordinal, (kUnsupported) if it
  /// is too old for the kernels, (kDevice) if it cannot be opened.
  static Device& get(int ordinal);

  void make_current() const { SACCADE_CUDA(cuCtxSetCurrent(context_)); }

  CUcontext context() const { return context_; }
  int ordinal() const { return ordinal_; }
  /// "NVIDIA H200 (sm_90a, 132 multiprocessors, CUDA 13.0)"
  const std::string& name() const { return name_; }
  /// Compile target of kernels: "sm_90a".
  const std::string& architecture() const { return architecture_; }
  int capability() const { return capability_; }  ///< 10 * major + minor
  int multiprocessors() const { return multiprocessors_; }
  std::size_t memory_bytes() const { return memory_bytes_; }
  int shared_memory_bytes() const { return shared_memory_bytes_; }  ///< maximum per block

  /// Kernel NAME of SOURCE, CUDA C++ that may include the files of kernels/. At the first call for a source it is taken
  /// from add_images() or the disk cache, else compiled. Throws Error. Any thread.
  const Kernel& kernel(const std::string& source, const std::string& name);
  /// Backend::add_images().
  void add_images(KernelImages images);

 private:
  explicit Device(int ordinal);
  int attribute(CUdevice device, CUdevice_attribute attribute) const;
  std::shared_ptr<const std::string> added_image(const std::string& key);
  CUmodule load(const std::string& key, const std::string& source, const std::string& name, Kernel& kernel);
  Kernel make_kernel(const std::string& key, const std::string& source, const std::string& name);

  int ordinal_;
  CUcontext context_ = nullptr;
  std::string model_;  // "NVIDIA H200"
  std::string name_;
  std::string architecture_;
  int capability_ = 0;
  int multiprocessors_ = 0;
  int shared_memory_bytes_ = 0;
  std::size_t memory_bytes_ = 0;
  struct Entry {
    std::once_flag made;
    Kernel kernel;
  };
  std::mutex mutex_;
  std::map<std::string, Entry> kernels_;                              // by key
  std::map<std::string, std::shared_ptr<const std::string>> images_;  // by key; from plan files
};

}  // namespace saccade::cuda
