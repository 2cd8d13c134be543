#include "ffmpeg/video_file.hpp"

extern "C" {
#include <libavutil/intreadwrite.h>
#include <libavutil/opt.h>
}

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace saccade {
namespace {

constexpr auto kLongestUnsaved = std::chrono::milliseconds(500);
constexpr std::array<std::string_view, 5> kEndings = {".mp4", ".m4v", ".mov", ".mkv", ".avi"};

const std::string& with_known_ending(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::find(kEndings.begin(), kEndings.end(), ending) == kEndings.end())
    fail(ErrorCode::kInvalidArgument, "'{}': videos are written as {}", path, fmt::join(kEndings, ", "));
  return path;
}

}  // namespace

void VideoFile::CloseOutput::operator()(AVFormatContext* context) const noexcept {
  avio_closep(&context->pb);
  avformat_free_context(context);
}

VideoFile::VideoFile(const std::string& path, OutputPath::Claim claim)
    : path_(with_known_ending(path)), place_(path, claim) {
  forget_message();
  AVFormatContext* context = nullptr;
  const int error = avformat_alloc_output_context2(&context, nullptr, nullptr, path.c_str());
  if (error < 0) fail(ErrorCode::kInvalidArgument, "'{}': {}", path, reason(error));
  output_.reset(context);
  check(avio_open(&context->pb, ("file:" + place_.temporary()).c_str(), AVIO_FLAG_WRITE));
  if (!place_.is_stream()) file_ = ::open(place_.temporary().c_str(), O_RDWR | O_CLOEXEC);
  if (!place_.is_stream() && file_ < 0) refuse(errno);
}

VideoFile::~VideoFile() {
  if (file_ >= 0) ::close(file_);
}

bool VideoFile::is_avi() const { return std::string_view(output_->oformat->name) == "avi"; }

bool VideoFile::is_mp4() const { return !is_avi() && std::string_view(output_->oformat->name) != "matroska"; }

void VideoFile::begin(const AVCodecContext& encoder, AVRational rate) {
  AVStream* stream = avformat_new_stream(output_.get(), nullptr);
  if (stream == nullptr) throw std::bad_alloc();
  check(avcodec_parameters_from_context(stream->codecpar, &encoder));
  stream->time_base = encoder_unit_ = encoder.time_base;
  stream->avg_frame_rate = rate;
  if (is_mp4()) av_opt_set(output_->priv_data, "movflags", "frag_custom+empty_moov+default_base_moof+skip_trailer", 0);
  check(avformat_write_header(output_.get(), nullptr));
  if (is_mp4() && file_ >= 0) index_ = std::make_unique<Mp4Index>(*output_);
  avio_flush(output_->pb);
  fragment_place_ = avio_tell(output_->pb);
  last_flush_ = Clock::now();
}

bool VideoFile::is_due(std::int64_t timestamp) const {
  const std::int64_t unsaved = av_rescale_q(timestamp - first_timestamp_, encoder_unit_, {1, 1000});
  return unsaved >= kLongestUnsaved.count() || Clock::now() - last_flush_ >= kLongestUnsaved;
}

void VideoFile::write(AVPacket& packet) {
  packet.stream_index = 0;
  const std::int64_t timestamp = packet.dts;
  if (is_empty_) {
    first_timestamp_ = timestamp;
    // A fragment starts at its first packet's time stamp, whatever the duration of the previous fragment's last packet.
    if (is_mp4()) av_opt_set(output_->priv_data, "movflags", "+frag_discont", 0);
  }
  is_empty_ = false;
  av_packet_rescale_ts(&packet, encoder_unit_, output_->streams[0]->time_base);
  if (index_ != nullptr) {
    fragment_.emplace_back(av_packet_clone(&packet));
    if (fragment_.back() == nullptr) throw std::bad_alloc();
  }
  check(av_write_frame(output_.get(), &packet));
  av_packet_unref(&packet);
  if (is_due(timestamp)) flush();
}

/// Passes buffered packets to the system; the file has its final name from then on.
void VideoFile::flush() {
  last_flush_ = Clock::now();
  if (is_empty_) return;
  is_empty_ = true;
  check(av_write_frame(output_.get(), nullptr));
  avio_flush(output_->pb);
  check(output_->pb->error);
  if (index_ != nullptr) index_fragment();
  place_.commit();
}

/// Only the start of the fragment's data has to be located: its packets are contiguous.
void VideoFile::index_fragment() {
  std::int64_t place = find_box(fragment_place_, "mdat");
  if (place < 0) fail(ErrorCode::kInternal, "'{}': a fragment without data", path_);
  place += 8;
  for (const AvPacket& packet : fragment_) {
    place = index_->add(*packet, place);
    if (place < 0) check(static_cast<int>(place));
  }
  fragment_.clear();
  fragment_place_ = avio_tell(output_->pb);
  if (place != fragment_place_) fail(ErrorCode::kInternal, "'{}': a fragment's data has another length", path_);
}

void VideoFile::finish() {
  flush();
  check(av_write_trailer(output_.get()));
  check(avio_closep(&output_->pb));
  if (index_ != nullptr) make_ordinary();
  place_.commit();
}

/// Appends the index of all frames, and turns the fragments with their heads into one 'mdat' box. Until the head of
/// that box is written, which is one small write, the file stays a valid fragmented one.
void VideoFile::make_ordinary() {
  const std::int64_t end = fragment_place_;
  const std::int64_t first = find_box(0, "moov");
  const std::string moov = index_->finish(end);
  if (moov.empty() || first < 0) fail(ErrorCode::kIo, "'{}': its index can't be created", path_);
  put(moov, end);
  std::array<char, 16> head{};
  AV_WB32(head.data(), 1U);  // the 64-bit size follows the type
  std::memcpy(head.data() + 4, "mdat", 4);
  AV_WB64(head.data() + 8, static_cast<std::uint64_t>(end - first));
  put({head.data(), head.size()}, first);
}

/// The offset of the first box of TYPE at or after FROM, which is the start of a box; -1: none.
std::int64_t VideoFile::find_box(std::int64_t from, const char* type) const {
  std::array<unsigned char, 8> head{};
  while (pread(file_, head.data(), head.size(), from) == static_cast<ssize_t>(head.size())) {
    if (std::memcmp(head.data() + 4, type, 4) == 0) return from;
    const std::int64_t size = AV_RB32(head.data());
    if (size < 8) break;
    from += size;
  }
  return -1;
}

void VideoFile::put(std::string_view bytes, std::int64_t place) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), place);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) refuse(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    place += written;
  }
}

int VideoFile::check(int error) const {
  if (error < 0) fail(ErrorCode::kIo, "'{}' can't be written: {}", path_, reason(error));
  return error;
}

void VideoFile::refuse(int system_error) const {
  fail(ErrorCode::kIo, "'{}' can't be written: {}", path_, std::strerror(system_error));
}

}  // namespace saccade
