#include "validate/data_image_reader.hpp"

#include <cmath>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "media/convert.hpp"
#include "media/image_list.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "scene/random.hpp"

namespace saccade {
namespace {

class DataImageReader final : public FrameReader {
 public:
  DataImageReader(const std::string& name, std::vector<DataImage> images, const Condition* condition)
      : images_(std::move(images)), condition_(condition) {
    std::vector<std::string> files;
    for (const DataImage& image : images_) files.push_back(image.file);
    files_ = open_images(name, std::move(files));
    info_ = files_->info();
    info_.frame_rate = images_.front().frame_rate;
  }

  const SourceInfo& info() const override { return info_; }
  void cancel() noexcept override { files_->cancel(); }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    Outcome<Frame> outcome = files_->read(condition_ == nullptr ? allocator : static_cast<FrameAllocator&>(pool_));
    if (!outcome) {
      const Failure& failure = outcome.failure();
      return failure.status == Status::kCorrupt ? Failure{Status::kLost, failure.message} : failure;
    }
    const DataImage& image = images_[static_cast<std::size_t>(outcome->sequence)];
    const FrameView& view = outcome->view;
    if (image.width != 0 && (view.width != image.width || view.height != image.height))
      return Failure{Status::kLost, fmt::format("'{}' has {}x{} pixels, but '{}' declares {}x{}", image.file,
                                                view.width, view.height, image.said_by, image.width, image.height)};
    if (image.frame_rate > 0)
      outcome->timestamp_ns = std::llround(1e9 * static_cast<double>(outcome->sequence) / image.frame_rate);
    return condition_ == nullptr ? std::move(outcome) : worsen(std::move(*outcome), allocator);
  }

 private:
  Outcome<Frame> worsen(Frame frame, FrameAllocator& allocator) const {
    const int width = frame.view.width;
    const int height = frame.view.height;
    FrameLease lease = allocator.acquire(frame_bytes(PixelFormat::kRgb24, width, height));
    if (!lease) return Failure{Status::kCancelled, info().name + ": reading was cancelled"};
    FrameView view = lay_out(lease.buffer(), PixelFormat::kRgb24, width, height);
    view.range = ColorRange::kFull;
    const RgbView pixels{reinterpret_cast<std::uint8_t*>(lease.buffer().data), view.pitch_bytes[0], width, height};
    to_rgb(frame.view, pixels);
    const DataImage& image = images_[static_cast<std::size_t>(frame.sequence)];
    try {
      condition_->apply(pixels, scene::mix(static_cast<std::uint64_t>(image.id)));
    } catch (const Error& error) {
      return Failure{Status::kLost,
                     fmt::format("'{}', under the condition {}: {}", image.file, condition_->name, error.what())};
    }
    frame.view = view;
    frame.lease = std::move(lease);
    frame.capture_time += Clock::now() - frame.captured;
    frame.captured = Clock::now();
    return frame;
  }

  std::vector<DataImage> images_;
  const Condition* condition_;
  FramePool pool_{1};  ///< for the image before its degradation
  std::unique_ptr<FrameReader> files_;
  SourceInfo info_;
};

}  // namespace

std::unique_ptr<FrameReader> open_data_images(const std::string& name, std::vector<DataImage> images,
                                              const Condition* condition) {
  return std::make_unique<DataImageReader>(name, std::move(images), condition);
}

}  // namespace saccade
