#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

#include "base/input_file.hpp"
#include "base/log.hpp"
#include "images/decoder.hpp"
#include "media/file_kind.hpp"
#include "media/orient.hpp"

namespace saccade {
namespace {

/// Whether a PNG file is animated: the acTL chunk precedes the first image's data.
bool is_animated(std::span<const std::uint8_t> png) {
  constexpr std::size_t kSignature = 8;
  constexpr std::size_t kAroundData = 12;  // size and type before a chunk's data, checksum after it
  for (std::size_t at = kSignature; at + kAroundData <= png.size();) {
    const std::string_view type(reinterpret_cast<const char*>(&png[at + 4]), 4);
    if (type == "acTL") return true;
    if (type == "IDAT") return false;
    at += kAroundData + (std::size_t{png[at]} << 24U | std::size_t{png[at + 1]} << 16U |
                         std::size_t{png[at + 2]} << 8U | std::size_t{png[at + 3]});
  }
  return false;
}

/// Bytes held by a source, counted against the frames' limit.
class Counted {
 public:
  Counted(FrameAllocator& frames, std::size_t bytes) : frames_(frames), bytes_(bytes) { frames_.take(bytes_); }
  ~Counted() { frames_.give_back(bytes_); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  FrameAllocator& frames_;
  std::size_t bytes_;
};

class Reader final : public ImageReader {
 public:
  ImageSize size_of(const std::string& path) override {
    // Metadata before the pixels: a few MB at most.
    constexpr std::uintmax_t kMostHeader = 64 << 20;
    load(path, std::min(bytes_of(path), kMostHeader));
    ImageHeader header;
    begin(file_, quoted(path), kMaxPixels, header);
    if (swaps_sides(header.orientation)) return {header.height, header.width};
    return {header.width, header.height};
  }

  Outcome<Frame> read(const std::string& path, FrameAllocator& allocator) override {
    constexpr std::size_t kKept = 64 << 20;  // reused for the next image
    Outcome<Frame> outcome = or_failure(path, [&] {
      const std::uintmax_t bytes = bytes_of(path);
      const Counted counted(allocator, bytes);
      load(path, bytes);
      if (file_kind(file_) == FileKind::kPng && is_animated(file_))
        log(LogLevel::kWarning, "'{}' is an animated PNG: only its first image is read", path);
      return decode(file_, quoted(path), kMaxPixels, allocator);
    });
    if (file_.capacity() > kKept) std::vector<std::uint8_t>().swap(file_);
    return outcome;
  }

  Outcome<Frame> read(std::span<const std::uint8_t> file, const std::string& name, std::int64_t most_pixels,
                      FrameAllocator& allocator) override {
    return or_failure(name, [&] { return decode(file, name, most_pixels, allocator); });
  }

 private:
  static std::string quoted(const std::string& path) { return "'" + path + "'"; }

  template <typename Decode>
  static Outcome<Frame> or_failure(const std::string& name, const Decode& decode) {
    try {
      return decode();
    } catch (const Error& error) {
      const std::string what = error.what();
      return Failure{Status::kCorrupt, what.find(name) == std::string::npos ? name + ": " + what : what};
    }
  }

  static std::uintmax_t bytes_of(const std::string& path) {
    std::error_code error;
    check_input(path);
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (error) fail(ErrorCode::kIo, "'{}' can't be read: {}", path, error.message());
    return bytes;
  }

  void load(const std::string& path, std::uintmax_t bytes) {
    std::ifstream stream = open_input(path);
    file_.resize(bytes);
    stream.read(reinterpret_cast<char*>(file_.data()), static_cast<std::streamsize>(bytes));
    if (!stream) fail(ErrorCode::kIo, "'{}' can't be read to its end", path);
  }

  ImageDecoder& begin(std::span<const std::uint8_t> file, const std::string& name, std::int64_t most_pixels,
                      ImageHeader& header) {
    const FileKind kind = file_kind(file);
    if (kind != FileKind::kJpeg && kind != FileKind::kPng)
      fail(ErrorCode::kInvalidFile, "{} is neither a JPEG nor a PNG file", name);
    ImageDecoder& decoder = kind == FileKind::kJpeg ? *jpeg_ : *png_;
    if (!decoder.begin(file, header)) damaged(name, decoder);
    if (static_cast<std::int64_t>(header.width) * header.height > most_pixels)
      fail(ErrorCode::kInvalidFile, "{} declares {}x{} pixels, more than the limit of {}", name, header.width,
           header.height, most_pixels);
    return decoder;
  }

  [[noreturn]] static void damaged(const std::string& name, const ImageDecoder& decoder) {
    fail(ErrorCode::kInvalidFile, "{} is damaged: {}", name, decoder.error());
  }

  Outcome<Frame> decode(std::span<const std::uint8_t> file, const std::string& name, std::int64_t most_pixels,
                        FrameAllocator& allocator) {
    ImageHeader header;
    ImageDecoder& decoder = begin(file, name, most_pixels, header);
    const bool turned = swaps_sides(header.orientation);
    const int width = turned ? header.height : header.width;
    const int height = turned ? header.width : header.height;
    const bool is_upright = header.orientation == 1;
    const std::size_t stored_bytes = is_upright ? 0 : std::size_t{3} * header.width * header.height;
    const Counted working(allocator, header.working_bytes + stored_bytes);
    Frame frame;
    frame.lease = allocator.acquire(frame_bytes(PixelFormat::kRgb24, width, height));
    if (!frame.lease) return Failure{Status::kCancelled, name + ": reading was cancelled"};
    frame.view = lay_out(frame.lease.buffer(), PixelFormat::kRgb24, width, height);
    frame.view.range = ColorRange::kFull;
    auto* pixels = reinterpret_cast<std::uint8_t*>(frame.lease.buffer().data);
    if (is_upright) {
      if (!decoder.decode(pixels, frame.view.pitch_bytes[0])) damaged(name, decoder);
      return frame;
    }
    const int pitch = 3 * header.width;
    const auto stored = std::make_unique_for_overwrite<std::uint8_t[]>(stored_bytes);
    if (!decoder.decode(stored.get(), pitch)) damaged(name, decoder);
    copy_upright(stored.get(), pitch, header.width, header.height, 3, header.orientation,
                 {pixels, frame.view.pitch_bytes[0]});
    return frame;
  }

  std::vector<std::uint8_t> file_;
  std::unique_ptr<ImageDecoder> jpeg_ = make_jpeg_decoder();
  std::unique_ptr<ImageDecoder> png_ = make_png_decoder();
};

void write(const std::string& path, const FrameView& frame) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool fits = frame.format == PixelFormat::kRgb24 || (frame.format == PixelFormat::kGray8 && ending == ".png");
  if (!fits || frame.width <= 0 || frame.height <= 0)
    fail(ErrorCode::kInvalidArgument, "'{}': rgb24 images can be written, and gray8 as .png, not {} of {}x{}", path,
         to_string(frame.format), frame.width, frame.height);
  const int most = ending == ".png" ? kMostPngPixels : kMostJpegPixels;
  if (std::max(frame.width, frame.height) > most)
    fail(ErrorCode::kUnsupported,
         "'{}' can't be written: an image of {}x{}, but {} files have at most {} pixels per side", path, frame.width,
         frame.height, ending, most);
  if (ending == ".jpg" || ending == ".jpeg") return write_jpeg(path, frame);
  if (ending == ".png") return write_png(path, frame);
  fail(ErrorCode::kInvalidArgument, "'{}': images are written as .jpg, .jpeg or .png", path);
}

constexpr ImagesModule kModule = {[]() -> std::unique_ptr<ImageReader> { return std::make_unique<Reader>(); },
                                  write,
                                  read_png_plane,
                                  jpeg_roundtrip,
                                  make_jpeg_plane_decoder,
                                  encode_jpeg};

}  // namespace
}  // namespace saccade

extern "C" const saccade::ImagesModule* saccade_module_images() { return &saccade::kModule; }
