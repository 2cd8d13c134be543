#pragma once

#include "cuda/driver/handles.hpp"
#include "cuda/libraries/library_tail.hpp"

namespace saccade::cuda {

/// A launch of which a library does the most; behind it a kernel of ours does the post-ops that the library leaves out.
class LibraryLaunch : public Launch {
 public:
  LibraryLaunch(const LibraryLaunch&) = delete;
  LibraryLaunch& operator=(const LibraryLaunch&) = delete;
  ~LibraryLaunch() override;

  void collect_images(KernelImages& images) const override;
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const final;

 protected:
  /// Leaves the device's context current.
  LibraryLaunch(Device& device, const NodeContext& context);

  /// The library's part.
  virtual std::unique_ptr<BoundLaunch> bind_library(const Bindings& bindings) const = 0;

  /// BYTES on the device, for as long as the launch lives.
  void* keep(std::span<const std::byte> bytes);

  int ordinal() const { return device_.ordinal(); }
  const LibraryTail& tail() const { return tail_; }
  /// What the library adds to its sums; null: nothing.
  void* residual_of(const Bindings& bindings) const {
    return tail_.residual < 0 ? nullptr : bindings.inputs[static_cast<std::size_t>(tail_.residual)].data;
  }

 private:
  Device& device_;
  LibraryTail tail_;
  std::vector<DeviceMemory> kept_;
  std::unique_ptr<Launch> rest_;  // null: the library does it all
};

}  // namespace saccade::cuda
