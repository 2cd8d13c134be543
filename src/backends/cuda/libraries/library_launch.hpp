#pragma once

#include "cuda/driver/weights.hpp"
#include "cuda/libraries/library_epilogue.hpp"

namespace saccade::cuda {

/// A launch by a library, followed by a kernel of ours for the post-ops that the library lacks.
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

  /// Binds the library's call.
  virtual std::unique_ptr<BoundLaunch> bind_library(const Bindings& bindings) const = 0;

  /// Uploads BYTES for the lifetime of the launch.
  void* keep(std::span<const std::byte> bytes);

  int ordinal() const { return device_.ordinal(); }
  const LibraryEpilogue& epilogue() const { return epilogue_; }
  /// The residual that the library adds; null: none.
  void* residual_of(const Bindings& bindings) const {
    return epilogue_.residual < 0 ? nullptr : bindings.inputs[static_cast<std::size_t>(epilogue_.residual)].data;
  }

 private:
  Device& device_;
  LibraryEpilogue epilogue_;
  std::vector<Weights> kept_;
  std::unique_ptr<Launch> epilogue_kernels_;  // null: the library's epilogue suffices
};

}  // namespace saccade::cuda
