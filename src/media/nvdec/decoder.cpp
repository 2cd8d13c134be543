#include "nvdec/decoder.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "nvdec/annex_b.hpp"
#include "nvdec/capabilities.hpp"
#include "nvdec/device_pool.hpp"
#include "nvdec/nvcuvid.hpp"
#include "nvdec/surfaces.hpp"

namespace saccade::nvdec {
namespace {

/// Images that are decoded ahead of the one that is read, where nothing waits for it.
constexpr unsigned kDecodedAhead = 3;
/// Indices of images are below it.
constexpr std::size_t kMostSurfaces = 64;

struct DestroyParser {
  void operator()(void* parser) const noexcept { static_cast<void>(nvcuvid().cuvidDestroyVideoParser(parser)); }
};

/// The numbers are those of ITU-T H.273, which is why H.264 and HEVC share them.
ColorMatrix matrix_of(unsigned char coefficients, ColorMatrix otherwise) {
  switch (coefficients) {
    case 0:
    case 2: return otherwise;
    case 1: return ColorMatrix::kBt709;
    case 9:
    case 10: return ColorMatrix::kBt2020;
    default: return ColorMatrix::kBt601;
  }
}

class NvdecDecoder final : public DeviceDecoder {
 public:
  NvdecDecoder(DeviceVideo video, int device, FrameAllocator& frames)
      : video_(std::move(video)), device_(device), pool_(new DevicePool(device, frames)) {
    make_current(device_);
    stream_ = cuda::make_stream();
    open_parser();
  }

  ~NvdecDecoder() override {
    static_cast<void>(cuda::driver().cuCtxSetCurrent(context_of(device_)));
    shown_.clear();
    parser_.reset();
    rest();
  }

  std::string send(std::span<const std::uint8_t> packet, std::int64_t number) override {
    if (!video_.is_live && !pool_->wait_for_room()) return {};
    make_current(device_);
    pool_->count();
    if (std::exchange(needs_header_, false) && !video_.header.empty()) parse(video_.header, 0, 0);
    images_ = 0;
    const std::string problem = parse(packet, cuda::CUVID_PKT_TIMESTAMP | cuda::CUVID_PKT_ENDOFPICTURE, number);
    if (!problem.empty()) return problem;
    return lacks_image(packet) ? "it has no image that can be decoded" : std::string();
  }

  void finish() override {
    make_current(device_);
    parse({}, cuda::CUVID_PKT_ENDOFSTREAM, 0);
  }

  std::optional<DeviceImage> next() override {
    if (taken_ == shown_.size()) return std::nullopt;
    std::optional<DeviceImage> image = std::move(shown_[taken_]);
    if (++taken_ == shown_.size()) forget_shown();
    return image;
  }

  bool may_follow_all(std::span<const std::uint8_t> packet) const override {
    const bool has_units = video_.codec == ExactCodec::kH264 || video_.codec == ExactCodec::kHevc;
    return !has_units || inspect_unit(packet, video_.codec).is_idr;
  }

  void flush() override {
    make_current(device_);
    forget_shown();
    open_parser();
  }

  void give_back() noexcept override { pool_->uncount(); }
  void cancel() noexcept override { pool_->cancel(); }

 private:
  void open_parser() {
    parser_.reset();
    cuda::CUVIDPARSERPARAMS parameters{};
    parameters.CodecType = codec_of(video_.codec);
    parameters.ulMaxNumDecodeSurfaces = 1;  // the sequence says how many
    parameters.ulMaxDisplayDelay = delay();
    parameters.pUserData = this;
    parameters.pfnSequenceCallback = [](void* self, cuda::CUVIDEOFORMAT* format) {
      return call(self, [format](NvdecDecoder& decoder) { return decoder.begin_sequence(*format); });
    };
    parameters.pfnDecodePicture = [](void* self, cuda::CUVIDPICPARAMS* image) {
      return call(self, [image](NvdecDecoder& decoder) { return decoder.decode(*image); });
    };
    parameters.pfnDisplayPicture = [](void* self, cuda::CUVIDPARSERDISPINFO* shown) {
      return call(self, [shown](NvdecDecoder& decoder) { return shown == nullptr ? 1 : decoder.show(*shown); });
    };
    cuda::CUvideoparser parser = nullptr;
    SACCADE_NVDEC(cuvidCreateVideoParser(&parser, &parameters));
    parser_.reset(parser);
    needs_header_ = is_first_ = true;
    is_damaged_ = {};
  }

  /// Exceptions must not pass through the parser: the first is thrown again when it has returned.
  template <typename Function>
  static int call(void* self, const Function& function) noexcept {
    auto& decoder = *static_cast<NvdecDecoder*>(self);
    try {
      return function(decoder);
    } catch (...) {
      if (!decoder.failure_) decoder.failure_ = std::current_exception();
      return 0;
    }
  }

  void forget_shown() noexcept {
    shown_.clear();
    taken_ = 0;
  }

  unsigned delay() const { return video_.is_live ? 0 : kDecodedAhead; }

  /// Why BYTES can't be parsed; empty: they are. Throws what a callback has thrown.
  std::string parse(std::span<const std::uint8_t> bytes, unsigned long flags, std::int64_t number) {
    cuda::CUVIDSOURCEDATAPACKET packet{
        .flags = flags, .payload_size = bytes.size(), .payload = bytes.data(), .timestamp = number};
    const cuda::CUresult result = nvcuvid().cuvidParseVideoData(parser_.get(), &packet);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return result == cuda::CUDA_SUCCESS ? std::string() : fmt::format("NVDEC's parser reports error {}", int{result});
  }

  /// Whether PACKET, which was parsed, has no image. A parser that finds the end of an image by the next packet is one
  /// behind from the first packet on.
  bool lacks_image(std::span<const std::uint8_t> packet) {
    const bool is_missing = images_ == 0 && must_have_image(packet);
    const bool is_first = std::exchange(is_first_, false);
    return is_missing && !is_first;
  }

  /// HEVC's leading images that refer to those before the first are no images of the stream, and VP8 and VP9 have
  /// packets that only repeat one.
  bool must_have_image(std::span<const std::uint8_t> packet) const {
    if (video_.codec == ExactCodec::kH264) return true;
    return video_.codec == ExactCodec::kHevc && !inspect_unit(packet, video_.codec).is_skippable;
  }

  /// The number of images that the parser may use at a time.
  int begin_sequence(const cuda::CUVIDEOFORMAT& format) {
    const int depth = 8 + std::max(format.bit_depth_luma_minus8, format.bit_depth_chroma_minus8);
    DeviceVideo changed{.codec = video_.codec,
                        .bits = depth,
                        .is_420 = format.chroma_format == cuda::cudaVideoChromaFormat_420,
                        .width = static_cast<int>(format.coded_width),
                        .height = static_cast<int>(format.coded_height)};
    if (const std::string why = refusal(changed, device_); !why.empty())
      fail(ErrorCode::kUnsupported, "cuda:{} can't decode it: {}", device_, why);
    const unsigned count = std::max<unsigned>(format.min_num_decode_surfaces, 1) + delay();
    if (surfaces_ == nullptr || !surfaces_->are_for(format, count)) {
      rest();
      surfaces_ = std::make_unique<Surfaces>(format, count);
    }
    format_ = format;
    return static_cast<int>(count);
  }

  int decode(cuda::CUVIDPICPARAMS& image) {
    ++images_;
    const auto index = static_cast<std::size_t>(image.CurrPicIdx);
    if (surfaces_ == nullptr || index >= is_damaged_.size()) return 0;
    const bool is_second = image.field_pic_flag != 0 && image.second_field != 0;
    try {
      surfaces_->decode(image);
      if (!is_second) is_damaged_[index] = false;
    } catch (const Error&) {
      is_damaged_[index] = true;
    }
    return 1;
  }

  int show(const cuda::CUVIDPARSERDISPINFO& shown) {
    const auto index = static_cast<std::size_t>(shown.picture_index);
    if (surfaces_ == nullptr || index >= is_damaged_.size()) return 0;
    DeviceImage image{.view = {}, .lease = {}, .packet = shown.timestamp, .is_damaged = is_damaged_[index]};
    if (!image.is_damaged && (!video_.is_live || pool_->has_room())) {
      const Surfaces::Mapping mapping(*surfaces_, shown, stream_.get());
      image.is_damaged = surfaces_->is_damaged(shown.picture_index);
      if (!image.is_damaged) copy(mapping, image);
    }
    shown_.push_back(std::move(image));
    return 1;
  }

  /// The visible part of MAPPING into a buffer of IMAGE.
  void copy(const Surfaces::Mapping& mapping, DeviceImage& image) {
    const auto& area = format_.display_area;
    const int width = area.right - area.left;
    const int height = area.bottom - area.top;
    check_size(width, height);
    image.lease = pool_->lease(frame_bytes(PixelFormat::kNv12, width, height));
    if (!image.lease) return;
    image.view = lay_out(image.lease.buffer(), PixelFormat::kNv12, width, height);
    image.view.matrix = matrix_of(format_.video_signal_description.matrix_coefficients, video_.matrix);
    image.view.range = format_.video_signal_description.video_full_range_flag != 0 ? ColorRange::kFull : video_.range;
    image.view.device = device_;
    image.view.ready = DevicePool::ready_event(image.lease.buffer());
    const auto sizes = plane_sizes(PixelFormat::kNv12, width, height);
    for (const std::size_t plane : {0U, 1U}) {
      cuda::CUDA_MEMCPY2D rows{};
      rows.srcMemoryType = rows.dstMemoryType = cuda::CU_MEMORYTYPE_DEVICE;
      rows.srcDevice = plane == 0 ? mapping.luma() : mapping.chroma();
      rows.srcPitch = mapping.pitch();
      // Two bytes, U and V, for two pixels.
      rows.srcXInBytes = static_cast<std::size_t>(plane == 0 ? area.left : area.left / 2 * 2);
      rows.srcY = static_cast<std::size_t>(plane == 0 ? area.top : area.top / 2);
      rows.dstDevice = cuda::address_of(image.view.planes[plane]);
      rows.dstPitch = static_cast<std::size_t>(image.view.pitch_bytes[plane]);
      rows.WidthInBytes = static_cast<std::size_t>(sizes[plane].row_bytes);
      rows.Height = static_cast<std::size_t>(sizes[plane].rows);
      SACCADE_CUDA(cuMemcpy2DAsync_v2(&rows, stream_.get()));
    }
    SACCADE_CUDA(cuEventRecord(DevicePool::ready_event(image.lease.buffer()), stream_.get()));
  }

  /// Destroys the surfaces once nothing reads them.
  void rest() noexcept {
    static_cast<void>(cuda::driver().cuStreamSynchronize(stream_.get()));
    surfaces_.reset();
  }

  DeviceVideo video_;
  int device_;
  std::unique_ptr<DevicePool, RetirePool> pool_;
  cuda::Stream stream_;
  std::unique_ptr<Surfaces> surfaces_;  ///< null before the first sequence
  cuda::CUVIDEOFORMAT format_{};        ///< of the sequence
  std::unique_ptr<void, DestroyParser> parser_;
  bool needs_header_ = true;
  bool is_first_ = true;                          ///< the next packet, since the last flush
  int images_ = 0;                                ///< of the last packet
  std::array<bool, kMostSurfaces> is_damaged_{};  ///< by index: decoding has failed
  std::vector<DeviceImage> shown_;                ///< since the last packet
  std::size_t taken_ = 0;                         ///< of these
  std::exception_ptr failure_;                    ///< of a callback
};

}  // namespace

std::unique_ptr<DeviceDecoder> open_decoder(DeviceVideo video, int device, FrameAllocator& frames) {
  return std::make_unique<NvdecDecoder>(std::move(video), device, frames);
}

}  // namespace saccade::nvdec
