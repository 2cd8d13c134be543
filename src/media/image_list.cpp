#include "media/image_list.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <set>

#include "base/clock.hpp"
#include "base/file_registry.hpp"
#include "base/module.hpp"
#include "media/file_kind.hpp"
#include "media/modules.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kEndings = {".jpg",  ".jpeg", ".png",  ".bmp",
                                                      ".webp", ".tif",  ".tiff", ".ppm"};

/// Files known in advance, one frame each.
class ImageList final : public FrameReader {
 public:
  ImageList(const std::string& uri, std::vector<std::string> files, const ReaderOptions& options)
      : files_(std::move(files)), at_(options.at), reader_(module<ImagesModule>("images").make_reader()) {
    info_.name = uri;
    info_.frames = static_cast<std::int64_t>(files_.size());
    info_.files = files_;
    for (const std::string& file : files_) {
      note_input(file);
      entries_.push_back({fs::path(file).filename().string(), number_in_name(file)});
    }
  }

  /// Throws Error if the first file's header is damaged.
  void measure_first() {
    const std::string& file = files_.front();
    if (file_kind(file) == FileKind::kOtherImage || file_kind(file) == FileKind::kOther) {
      const auto reader = module<FfmpegModule>("ffmpeg").open_video(file, {.decode_threads = 1});
      info_.width = reader->info().width;
      info_.height = reader->info().height;
      return;
    }
    const ImageSize size = reader_->size_of(file);
    info_.width = size.width;
    info_.height = size.height;
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    if (cancelled_) return Failure{Status::kCancelled, info_.name + ": reading was cancelled"};
    if (skipped_.contains(static_cast<std::int64_t>(next_)))
      return Failure{Status::kCorrupt, files_[next_++] + ": its decoder crashes"};
    if (next_ == files_.size()) return Failure{Status::kEnd, info_.name + ": no more images"};
    const std::size_t index = next_++;
    if (at_ != nullptr) *at_ = static_cast<std::int64_t>(index);
    const auto start = Clock::now();
    Outcome<Frame> outcome = decode(files_[index], allocator);
    if (!outcome) return outcome;
    Frame& frame = *outcome;
    frame.sequence = static_cast<std::int64_t>(index);
    frame.timestamp_ns = 0;
    frame.image_id = entries_[index].number;
    frame.name = entries_[index].name;
    frame.captured = Clock::now();
    frame.capture_time = frame.captured - start;
    return outcome;
  }

  bool skip(std::int64_t number) override {
    skipped_.insert(number);
    return true;
  }

  bool pass_over(std::int64_t count) override {
    next_ = std::min(static_cast<std::size_t>(count), files_.size());
    return true;
  }

  void cancel() noexcept override { cancelled_ = true; }

 private:
  struct Entry {
    std::string name;
    std::int64_t number;
  };

  Outcome<Frame> decode(const std::string& file, FrameAllocator& allocator) {
    try {
      const FileKind kind = file_kind(file);
      if (kind == FileKind::kJpeg || kind == FileKind::kPng) return reader_->read(file, allocator);
      const auto image = module<FfmpegModule>("ffmpeg").open_video(file, {.decode_threads = 1});
      Outcome<Frame> outcome = image->read(allocator);
      if (outcome || outcome.failure().status == Status::kCancelled) return outcome;
      if (outcome.failure().status == Status::kEnd) return Failure{Status::kCorrupt, file + ": no image in it"};
      return Failure{Status::kCorrupt, outcome.failure().message};
    } catch (const Error& error) {
      return Failure{Status::kCorrupt, error.what()};
    }
  }

  SourceInfo info_;
  std::vector<std::string> files_;
  std::vector<Entry> entries_;
  std::atomic<std::int64_t>* at_;  ///< ReaderOptions::at
  std::unique_ptr<ImageReader> reader_;
  std::set<std::int64_t> skipped_;
  std::size_t next_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

bool has_image_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

std::unique_ptr<FrameReader> open_image(const std::string& path, const ReaderOptions& options) {
  auto images = std::make_unique<ImageList>(path, std::vector{path}, options);
  images->measure_first();
  return images;
}

std::unique_ptr<FrameReader> open_images(const std::string& name, std::vector<std::string> files,
                                         const ReaderOptions& options) {
  return std::make_unique<ImageList>(name, std::move(files), options);
}

std::unique_ptr<FrameReader> open_folder(const std::string& path, const ReaderOptions& options) {
  std::vector<std::string> files;
  std::error_code error;
  note_input(path);
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (has_image_ending(entry->path()) && !entry->is_directory()) files.push_back(entry->path().string());
  if (error) fail(ErrorCode::kIo, "the folder '{}' can't be read: {}", path, error.message());
  if (files.empty())
    fail(ErrorCode::kInvalidFile, "the folder '{}' has no image (a file ending in {})", path,
         fmt::join(kEndings, ", "));
  std::sort(files.begin(), files.end());
  auto images = std::make_unique<ImageList>(path, std::move(files), options);
  try {
    images->measure_first();
  } catch (const Error&) {
    // The first image is damaged: its frame will report it, and the size stays unknown.
  }
  return images;
}

}  // namespace saccade
