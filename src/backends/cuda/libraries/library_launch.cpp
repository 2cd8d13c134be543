#include "cuda/libraries/library_launch.hpp"

#include "cuda/driver/transfer.hpp"

namespace saccade::cuda {
namespace {

/// The library's call, then the epilogue kernel.
class BoundPair : public BoundLaunch {
 public:
  BoundPair(std::unique_ptr<BoundLaunch> library, std::unique_ptr<BoundLaunch> rest)
      : library_(std::move(library)), epilogue_kernels_(std::move(rest)) {}
  void run() override {
    library_->run();
    epilogue_kernels_->run();
  }

 private:
  std::unique_ptr<BoundLaunch> library_;
  std::unique_ptr<BoundLaunch> epilogue_kernels_;
};

}  // namespace

LibraryLaunch::LibraryLaunch(Device& device, const NodeContext& context)
    : device_(device), epilogue_(library_epilogue(context)) {
  if (epilogue_.rest) epilogue_kernels_ = make_launch(device, context, epilogue_program(context));
  device.make_current();
}

LibraryLaunch::~LibraryLaunch() { static_cast<void>(driver().cuCtxSetCurrent(device_.context())); }

void* LibraryLaunch::keep(std::span<const std::byte> bytes) {
  kept_.push_back(upload_weights(device_, bytes));
  return kept_.back()->pointer();
}

void LibraryLaunch::collect_images(KernelImages& images) const {
  collect_transfer_image(device_, images);
  if (epilogue_kernels_ != nullptr) epilogue_kernels_->collect_images(images);
}

std::unique_ptr<BoundLaunch> LibraryLaunch::bind(const Bindings& bindings) const {
  auto library = bind_library(bindings);
  if (epilogue_kernels_ == nullptr) return library;
  return std::make_unique<BoundPair>(std::move(library), epilogue_kernels_->bind(bindings));
}

}  // namespace saccade::cuda
