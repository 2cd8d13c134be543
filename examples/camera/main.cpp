// A source that the program implements: camera MODEL.onnx
#include <saccade/saccade.hpp>

#include <atomic>
#include <cstdio>
#include <memory>

namespace {

/// Stands for a camera's SDK: ten grey frames, each brighter than the one before.
class Camera final : public saccade::CustomSource {
 public:
  Camera() {
    info_.name = "my camera";
    info_.frame_rate = 25;
  }

  const saccade::SourceInfo& info() const override { return info_; }

  saccade::Outcome<saccade::CapturedFrame> read(saccade::FrameTarget& target) override {
    if (cancelled_) return saccade::Failure{saccade::Status::kCancelled, {}};
    if (count_ == 10) return saccade::Failure{saccade::Status::kEnd, {}};
    const saccade::FramePlanes planes = target.acquire(saccade::PixelFormat::kGray8, kWidth, kHeight);
    if (!planes) return saccade::Failure{saccade::Status::kCancelled, {}};
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        planes.data[0][y * planes.pitch_bytes[0] + x] = static_cast<std::uint8_t>(25 * count_);
    return saccade::CapturedFrame{.timestamp_ns = 40'000'000 * count_++, .range = saccade::ColorRange::kFull};
  }

  void cancel() noexcept override { cancelled_ = true; }

 private:
  static constexpr int kWidth = 320;
  static constexpr int kHeight = 240;
  saccade::SourceInfo info_;
  std::int64_t count_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: camera MODEL.onnx") < 0 ? 1 : 2;
  auto source = saccade::Source::from(std::make_unique<Camera>());
  for (const auto& result : saccade::Pipeline(source, saccade::Model::load(argv[1])))
    std::printf("frame %lld of %.*s: %zu objects\n", static_cast<long long>(result.frame),
                static_cast<int>(result.source.size()), result.source.data(), result.detections.size());
}
