#include "cuda/libraries/library_launch.hpp"

#include "cuda/driver/transfer.hpp"

namespace saccade::cuda {
namespace {

/// The library's part, then ours.
class BoundPair : public BoundLaunch {
 public:
  BoundPair(std::unique_ptr<BoundLaunch> library, std::unique_ptr<BoundLaunch> rest)
      : library_(std::move(library)), rest_(std::move(rest)) {}
  void run() override {
    library_->run();
    rest_->run();
  }

 private:
  std::unique_ptr<BoundLaunch> library_;
  std::unique_ptr<BoundLaunch> rest_;
};

}  // namespace

LibraryLaunch::LibraryLaunch(Device& device, const NodeContext& context)
    : device_(device), tail_(library_tail(context)) {
  if (tail_.rest) rest_ = make_launch(device, context, rest_program(context));
  device.make_current();
}

LibraryLaunch::~LibraryLaunch() { static_cast<void>(driver().cuCtxSetCurrent(device_.context())); }

void* LibraryLaunch::keep(std::span<const std::byte> bytes) {
  kept_.push_back(upload(bytes));
  return kept_.back().pointer();
}

void LibraryLaunch::collect_images(KernelImages& images) const {
  collect_transfer_image(device_, images);
  if (rest_ != nullptr) rest_->collect_images(images);
}

std::unique_ptr<BoundLaunch> LibraryLaunch::bind(const Bindings& bindings) const {
  auto library = bind_library(bindings);
  if (rest_ == nullptr) return library;
  return std::make_unique<BoundPair>(std::move(library), rest_->bind(bindings));
}

}  // namespace saccade::cuda
