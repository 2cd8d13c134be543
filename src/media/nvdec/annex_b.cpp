#include "nvdec/annex_b.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace saccade::nvdec {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{1} << 18;
/// A frame of a video with the largest size is below it.
constexpr std::size_t kMostBytes = std::size_t{1} << 28;
/// Bytes of a NAL unit that tell what it begins: its header, and the first bit of a slice.
constexpr std::size_t kHead = 3;
constexpr std::size_t kStartCode = 3;

/// A NAL unit, by its first bytes.
struct Unit {
  int type = 0;
  bool is_slice = false;
  bool begins_frame = false;  ///< if a slice of another frame precedes it
  bool is_key = false;
  bool is_idr = false;
  bool is_skippable = false;
};

/// ITU-T H.264, 7.4.1.2.3: what precedes a frame's first slice, which has first_mb_in_slice 0 as "1".
Unit h264_unit(const std::uint8_t* head) {
  Unit unit{.type = head[0] & 0x1F};
  unit.is_slice = unit.type == 1 || unit.type == 2 || unit.type == 5;
  unit.is_key = unit.is_idr = unit.type == 5;
  unit.begins_frame = unit.is_slice ? (head[1] & 0x80) != 0
                                    : (unit.type >= 6 && unit.type <= 9) || (unit.type >= 14 && unit.type <= 18);
  return unit;
}

/// ITU-T H.265, 7.4.2.4.4, of the base layer. A frame's first slice has first_slice_segment_in_pic_flag.
Unit hevc_unit(const std::uint8_t* head) {
  Unit unit{.type = (head[0] >> 1) & 0x3F};
  const bool is_base = (head[0] & 1) == 0 && (head[1] & 0xF8) == 0;
  if (!is_base) return unit;
  unit.is_slice = unit.type < 32;
  unit.is_key = unit.type >= 16 && unit.type <= 23;
  unit.is_idr = unit.type == 19 || unit.type == 20;
  unit.is_skippable = unit.type == 8 || unit.type == 9;
  unit.begins_frame = unit.is_slice ? (head[2] & 0x80) != 0
                                    : (unit.type >= 32 && unit.type <= 35) || unit.type == 39 ||
                                          (unit.type >= 41 && unit.type <= 44) || (unit.type >= 48 && unit.type <= 55);
  return unit;
}

Unit unit_at(const std::uint8_t* head, ExactCodec codec) {
  return codec == ExactCodec::kHevc ? hevc_unit(head) : h264_unit(head);
}

/// The first start code 00 00 01 in BYTES; their end without one.
std::size_t start_code(std::span<const std::uint8_t> bytes) {
  for (std::size_t i = 0; i + kStartCode <= bytes.size();) {
    const void* const found = std::memchr(bytes.data() + i + 2, 1, bytes.size() - i - 2);
    if (found == nullptr) break;
    const auto one = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
    if (bytes[one - 1] == 0 && bytes[one - 2] == 0) return one - 2;
    i = one - 1;
  }
  return bytes.size();
}

}  // namespace

UnitFacts inspect_unit(std::span<const std::uint8_t> unit, ExactCodec codec) {
  UnitFacts facts;
  for (std::size_t at = start_code(unit); at + kStartCode + kHead <= unit.size();) {
    const Unit each = unit_at(unit.data() + at + kStartCode, codec);
    facts.is_key = facts.is_key || each.is_key;
    facts.is_idr = facts.is_idr || each.is_idr;
    facts.is_skippable = facts.is_skippable || each.is_skippable;
    at += kStartCode;
    at += start_code(unit.subspan(at));
  }
  return facts;
}

AnnexBFile::AnnexBFile(const std::string& path, ExactCodec codec)
    : path_(path), codec_(codec), file_(open_input(path)) {
  fill();
  if (!find_start(0))
    fail(ErrorCode::kInvalidFile, "'{}' is no elementary stream of H.264 or HEVC: it has no start code", path);
}

void AnnexBFile::rewind() {
  file_.clear();
  file_.seekg(0);
  begin_ = filled_ = 0;
}

/// Reads on, after the bytes of the next frame. False at the end of the file.
bool AnnexBFile::fill() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, filled_ - begin_);
    filled_ -= std::exchange(begin_, 0);
  }
  if (filled_ > kMostBytes)
    fail(ErrorCode::kInvalidFile, "'{}' is damaged: it has a frame of more than {} MB", path_, kMostBytes >> 20);
  if (bytes_.size() < filled_ + kReadAtOnce) bytes_.resize(std::max(2 * bytes_.size(), filled_ + kReadAtOnce));
  file_.read(reinterpret_cast<char*>(bytes_.data()) + filled_, static_cast<std::streamsize>(kReadAtOnce));
  if (file_.bad()) fail(ErrorCode::kIo, "'{}' can't be read", path_);
  const auto read = static_cast<std::size_t>(file_.gcount());
  filled_ += read;
  return read > 0;
}

/// The place of the next start code at or after FROM, both counted from the beginning of the frame, of which the head
/// of the unit is there. Nothing if the file ends before.
std::optional<std::size_t> AnnexBFile::find_start(std::size_t from) {
  while (true) {
    const std::span<const std::uint8_t> rest(bytes_.data() + begin_ + from, filled_ - begin_ - from);
    const std::size_t found = start_code(rest);
    if (found + kStartCode + kHead <= rest.size()) return from + found;
    // A start code may cross the end of what has been read.
    from += std::min(found, rest.size() - std::min<std::size_t>(rest.size(), kStartCode - 1));
    if (!fill()) return std::nullopt;
  }
}

std::span<const std::uint8_t> AnnexBFile::next() {
  bool has_slice = false;
  std::size_t from = 0;
  while (const auto start = find_start(from)) {
    const Unit unit = unit_at(bytes_.data() + begin_ + *start + kStartCode, codec_);
    if (has_slice && unit.begins_frame) {
      // The zero byte before a start code belongs to it.
      const bool is_long = *start > 0 && bytes_[begin_ + *start - 1] == 0;
      return take(*start - (is_long ? 1 : 0));
    }
    has_slice = has_slice || unit.is_slice;
    from = *start + kStartCode;
  }
  return take(has_slice ? filled_ - begin_ : 0);
}

std::span<const std::uint8_t> AnnexBFile::take(std::size_t end) {
  const std::span<const std::uint8_t> frame(bytes_.data() + begin_, end);
  begin_ += end;
  return frame;
}

}  // namespace saccade::nvdec
