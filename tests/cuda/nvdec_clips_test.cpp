#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/digest.hpp"
#include "base/module.hpp"
#include "media/elementary.hpp"
#include "media/modules.hpp"
#include "nvdec/decoded.hpp"
#include "nvdec/nvcuvid_api.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "result_text.hpp"
#include "saccade/saccade.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"

// NVDEC on a real GPU, without FFmpeg: script/nvdec-clips makes the clips, and SACCADE_NVDEC_CLIPS names their folder.
namespace saccade {
namespace {

using cuda::CUDA_SUCCESS;

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

/// Makes the context of the first GPU current. False if there is none.
bool use_gpu() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return false;
  cuda::CUdevice device = 0;
  cuda::CUcontext context = nullptr;
  using Api = cuda::DriverApi;
  return symbol<decltype(Api::cuInit)>(driver, "cuInit")(0) == CUDA_SUCCESS &&
         symbol<decltype(Api::cuDeviceGet)>(driver, "cuDeviceGet")(&device, 0) == CUDA_SUCCESS &&
         symbol<decltype(Api::cuDevicePrimaryCtxRetain)>(driver, "cuDevicePrimaryCtxRetain")(&context, device) ==
             CUDA_SUCCESS &&
         symbol<decltype(Api::cuCtxSetCurrent)>(driver, "cuCtxSetCurrent")(context) == CUDA_SUCCESS;
}

TEST(CudaNvdecCapabilities, ArePrinted) {
  if (!use_gpu()) GTEST_SKIP() << "there is no GPU";
  void* const library = dlopen("libnvcuvid.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << "libnvcuvid.so.1 is missing: " << dlerror();
  const auto caps_of = symbol<decltype(cuda::NvcuvidApi::cuvidGetDecoderCaps)>(library, "cuvidGetDecoderCaps");
  ASSERT_NE(caps_of, nullptr);
  bool has_h264 = false;
  for (const auto& [name, codec] :
       {std::pair{"H.264", cuda::cudaVideoCodec_H264}, std::pair{"HEVC", cuda::cudaVideoCodec_HEVC},
        std::pair{"VP8", cuda::cudaVideoCodec_VP8}, std::pair{"VP9", cuda::cudaVideoCodec_VP9},
        std::pair{"AV1", cuda::cudaVideoCodec_AV1}, std::pair{"MJPEG", cuda::cudaVideoCodec_JPEG}})
    for (const unsigned bits : {8U, 10U}) {
      cuda::CUVIDDECODECAPS caps{};
      caps.eCodecType = codec;
      caps.eChromaFormat = cuda::cudaVideoChromaFormat_420;
      caps.nBitDepthMinus8 = bits - 8;
      const cuda::CUresult result = caps_of(&caps);
      std::printf("%-5s %2u bits: %s %ux%u to %ux%u, %u macroblocks, %u decoders, outputs %#x (result %d)\n", name,
                  bits, caps.bIsSupported != 0 ? "yes" : "no ", caps.nMinWidth, caps.nMinHeight, caps.nMaxWidth,
                  caps.nMaxHeight, caps.nMaxMBCount, caps.nNumNVDECs, caps.nOutputFormatMask, result);
      has_h264 = has_h264 || (caps.bIsSupported != 0 && codec == cuda::cudaVideoCodec_H264);
    }
  EXPECT_TRUE(has_h264);
}

/// "WIDTH HEIGHT DIGEST"
std::string line_of(const Frame& frame) {
  const std::vector<std::uint8_t> samples = test::nv12_samples(host_view(frame));
  return fmt::format("{} {} {}", frame.view.width, frame.view.height,
                     digest({reinterpret_cast<const char*>(samples.data()), samples.size()}));
}

std::unique_ptr<FrameReader> open_clip(const std::string& path) {
  return module<NvdecModule>("nvdec").open_elementary(path, {.decode = Decoding::kCuda});
}

/// A reader whose frames are copied to the host.
class HostFrames final : public FrameReader {
 public:
  explicit HostFrames(std::unique_ptr<FrameReader> reader) : reader_(std::move(reader)) {}
  const SourceInfo& info() const override { return reader_->info(); }
  Outcome<Frame> read(FrameAllocator& allocator) override {
    Outcome<Frame> frame = reader_->read(allocator);
    if (frame) frame->view = host_view(*frame);
    return frame;
  }
  void cancel() noexcept override { reader_->cancel(); }

 private:
  std::unique_ptr<FrameReader> reader_;
};

class CudaNvdecClips : public testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("SACCADE_NVDEC_CLIPS");
    if (folder == nullptr) GTEST_SKIP() << "script/nvdec-clips makes the clips; SACCADE_NVDEC_CLIPS names their folder";
    if (dlopen("libnvcuvid.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr)
      GTEST_SKIP() << "libnvcuvid.so.1 is missing: " << dlerror();
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (elementary_codec(entry.path().string())) clips_.push_back(entry.path().string());
    std::ranges::sort(clips_);
    ASSERT_FALSE(clips_.empty());
  }

  static std::vector<std::string> wanted(const std::string& clip) {
    std::vector<std::string> lines;
    std::ifstream file(clip + ".digests");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    EXPECT_FALSE(lines.empty()) << clip;
    return lines;
  }

  /// Every frame of CLIP, ROUNDS times, next to the digests of the CPU.
  static void expect_digests(const std::string& clip, int rounds) {
    const std::vector<std::string> lines = wanted(clip);
    const auto reader = open_clip(clip);
    test::GpuFrames frames;
    for (int round = 0; round < rounds; ++round) {
      std::size_t count = 0;
      Outcome<Frame> frame = reader->read(frames);
      for (; frame; frame = reader->read(frames), ++count) {
        ASSERT_LT(count, lines.size()) << clip;
        ASSERT_EQ(frame->view.memory, MemoryKind::kDevice) << clip;
        ASSERT_EQ(line_of(*frame), lines[count]) << clip << ", frame " << count << ", round " << round;
      }
      EXPECT_EQ(frame.failure().status, Status::kEnd) << frame.failure().message;
      EXPECT_EQ(count, lines.size()) << clip;
      EXPECT_TRUE(reader->rewind());
    }
  }

  std::vector<std::string> clips_;
};

TEST_F(CudaNvdecClips, PixelsAreThoseOfTheCpu) {
  for (const std::string& clip : clips_) {
    SCOPED_TRACE(clip);
    expect_digests(clip, 2);
  }
}

TEST_F(CudaNvdecClips, ManyAtOnce) {
  constexpr std::size_t kThreads = 8;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([this, i] { expect_digests(clips_[i % clips_.size()], 2); });
}

TEST_F(CudaNvdecClips, ModelsReadTheFramesInPlace) {
  const test::TempFolder folder;
  ModelOptions options;
  options.device = Device::cuda();
  const std::vector<Model> models = {Model::load(test::write_color_classifier(folder), options),
                                     Model::load(test::write_box_detector(folder), options)};
  for (const std::string& clip : clips_) {
    SCOPED_TRACE(clip);
    Pipeline in_place({source_of(open_clip(clip))}, models);
    Pipeline copied({source_of(std::make_unique<HostFrames>(open_clip(clip)))}, models);
    const auto got = test::texts_of(in_place);
    EXPECT_EQ(got, test::texts_of(copied));
    EXPECT_EQ(got.size(), 2 * wanted(clip).size());
  }
}

TEST_F(CudaNvdecClips, RatesArePrinted) {
  for (const std::string& clip : clips_) {
    const auto reader = open_clip(clip);
    test::GpuFrames frames(8);
    const auto start = std::chrono::steady_clock::now();
    int count = 0;
    while (const Outcome<Frame> frame = reader->read(frames)) ++count;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%s: %d frames of %dx%d, %.0f frames per second\n", clip.c_str(), count, reader->info().width,
                reader->info().height, count / seconds);
    EXPECT_GT(count, 0);
  }
}

}  // namespace
}  // namespace saccade
