#include "vision/run_lengths.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {
namespace {

// Compressed text: groups of 5 bits, least significant first, each a character from '0'. The sixth bit marks that
// another group follows; the fifth bit of the last group is the sign. From the fourth count, the difference to the
// count before the previous one is stored.
constexpr int kGroupBits = 5;
constexpr std::int64_t kGroupMask = 0x1f;
constexpr int kMore = 0x20;
constexpr int kSign = 0x10;
constexpr char kFirstLetter = '0';
constexpr int kMaxGroups = 7;  // 35 bits hold the difference of any two counts

constexpr std::int64_t kMaxMaskPixels = std::int64_t{1} << 28;  // as of an image

void pack(std::span<const std::uint32_t> counts, std::vector<char>& text) {
  text.clear();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::int64_t rest = counts[i];
    if (i > 2) rest -= counts[i - 2];
    for (bool more = true; more;) {
      auto group = static_cast<int>(rest & kGroupMask);
      rest >>= kGroupBits;
      more = rest != ((group & kSign) != 0 ? -1 : 0);
      if (more) group |= kMore;
      text.push_back(static_cast<char>(kFirstLetter + group));
    }
  }
}

}  // namespace

void RunTransposer::begin(int lines, int length) {
  lines_ = lines;
  length_ = length;
  line_ = 0;
  edges_.clear();
  before_.clear();
  differences_.clear();
  // The maximum of a line, and an estimate for an image: sixteen borders per line.
  edges_.reserve(static_cast<std::size_t>(length) + 2);
  before_.reserve(static_cast<std::size_t>(length) + 2);
  differences_.reserve(16 * static_cast<std::size_t>(lines));
  changes_.reserve(16 * static_cast<std::size_t>(length));
  places_.assign(static_cast<std::size_t>(length) + 2, 0);
  changes_.clear();
}

void RunTransposer::add(Run run) {
  if (run.line < line_ || run.line >= lines_) return;
  const std::int32_t first = std::max(run.first, 0);
  const std::int32_t last = std::min(run.last, length_);
  if (first >= last) return;
  while (line_ < run.line) {
    if (edges_.empty() && before_.empty()) line_ = run.line - 1;  // empty lines do not differ
    close_line();
  }
  if (!edges_.empty() && edges_.back() >= first) {
    edges_.back() = std::max(edges_.back(), last);
    return;
  }
  edges_.push_back(first);
  edges_.push_back(last);
}

void RunTransposer::keep(std::int32_t line, std::int32_t first, std::int32_t last) {
  differences_.push_back({line, first, last});
  // Counts are stored two entries later, so that the prefix sums are the first indices, which are then advanced.
  for (std::int32_t place = first; place < last; ++place) ++places_[static_cast<std::size_t>(place) + 2];
}

/// A pixel differs from the previous line if just one of the two contains it: between an odd edge and the next one in
/// the merged edges of both lines.
void RunTransposer::close_line() {
  std::size_t now = 0;
  std::size_t before = 0;
  std::int32_t start = -1;
  while (now < edges_.size() || before < before_.size()) {
    const bool from_now = before == before_.size() || (now < edges_.size() && edges_[now] < before_[before]);
    if (!from_now && now < edges_.size() && edges_[now] == before_[before]) {
      ++now;
      ++before;
      continue;
    }
    const std::int32_t edge = from_now ? edges_[now++] : before_[before++];
    if (start >= 0) keep(line_, start, edge);
    start = start >= 0 ? -1 : edge;
  }
  std::swap(edges_, before_);
  edges_.clear();
  ++line_;
}

void RunTransposer::finish() {
  close_line();
  close_line();  // the empty line after the last run, where the remaining runs end
  for (std::size_t i = 2; i < places_.size(); ++i) places_[i] += places_[i - 1];
  changes_.resize(static_cast<std::size_t>(places_.back()));
  // Lines arrive in order, and so do the changes of every transposed line; its index advances to that of the next line.
  for (const Run& run : differences_)
    for (std::int32_t place = run.first; place < run.last; ++place)
      changes_[static_cast<std::size_t>(places_[static_cast<std::size_t>(place) + 1]++)] = run.line;
}

std::span<const std::int32_t> RunTransposer::changes(int place) const {
  const auto first = static_cast<std::size_t>(places_[static_cast<std::size_t>(place)]);
  const auto last = static_cast<std::size_t>(places_[static_cast<std::size_t>(place) + 1]);
  return std::span(changes_).subspan(first, last - first);
}

std::span<const std::uint32_t> RunLengths::encode(std::span<const MaskRun> runs, int width, int height) {
  transposer_.begin(height, width);
  for (const MaskRun& run : runs) transposer_.add({run.y, run.x1, run.x2});
  transposer_.finish();
  counts_.clear();
  counts_.reserve(16 * static_cast<std::size_t>(width) + 2);
  std::int64_t last = 0;    // begin of the current count
  std::int64_t column = 0;  // begin of the column
  const std::int64_t end = std::int64_t{width} * height;
  for (int x = 0; x < width; ++x, column += height) {
    for (std::int32_t y : transposer_.changes(x)) {
      const std::int64_t at = column + y;
      if (at == last && !counts_.empty()) {  // continues from the end of a column to the begin of the next
        last -= counts_.back();
        counts_.pop_back();
      } else if (at < end) {
        counts_.push_back(static_cast<std::uint32_t>(at - last));
        last = at;
      }
    }
  }
  counts_.push_back(static_cast<std::uint32_t>(end - last));
  return counts_;
}

std::string_view RunLengths::encode_text(std::span<const MaskRun> runs, int width, int height) {
  pack(encode(runs, width, height), text_);
  return {text_.data(), text_.size()};
}

void RunLengths::split_into_columns(std::span<const std::int64_t> counts, int width, int height) {
  const std::int64_t pixels = std::int64_t{width} * height;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t count = counts[i];
    if (count < 0) fail(ErrorCode::kInvalidFile, "the run length {} of a mask, {}, is negative", i, count);
    if (count > pixels - at)
      fail(ErrorCode::kInvalidFile, "the run lengths of a mask go beyond its {}x{} pixels", width, height);
    const std::int64_t end = at + count;
    const bool inside = i % 2 == 1;
    while (inside && at < end) {
      const std::int64_t column = at / height;
      const std::int64_t last = std::min(end, (column + 1) * height);
      transposer_.add({static_cast<std::int32_t>(column), static_cast<std::int32_t>(at - column * height),
                       static_cast<std::int32_t>(last - column * height)});
      at = last;
    }
    at = end;
  }
  if (at != pixels)
    fail(ErrorCode::kInvalidFile, "the run lengths of a mask add up to {}, not to its {}x{} pixels", at, width, height);
}

Mask RunLengths::decode(std::span<const std::int64_t> counts, int width, int height) {
  if (width < 1 || height < 1 || std::int64_t{width} * height > kMaxMaskPixels)
    fail(ErrorCode::kInvalidFile,
         "a mask of {}x{} pixels can't be read: each side must be at least 1, the product at most {}", width, height,
         kMaxMaskPixels);
  transposer_.begin(width, height);
  split_into_columns(counts, width, height);
  transposer_.finish();
  Mask mask;
  runs_.clear();
  for (int y = 0; y < height; ++y) {
    const auto changes = transposer_.changes(y);
    for (std::size_t i = 0; i + 1 < changes.size(); i += 2) {
      runs_.push_back({y, changes[i], changes[i + 1]});
      mask.area += changes[i + 1] - changes[i];
    }
  }
  mask.runs = runs_;
  return mask;
}

void RunLengths::unpack(std::string_view text) {
  unpacked_.clear();
  for (std::size_t i = 0; i < text.size();) {
    std::int64_t count = 0;
    int groups = 0;
    for (bool more = true; more; ++groups, ++i) {
      if (i == text.size()) fail(ErrorCode::kInvalidFile, "a mask's packed run lengths end within a number");
      const int group = text[i] - kFirstLetter;
      if (group < 0 || group >= 2 * kMore)
        fail(ErrorCode::kInvalidFile, "a mask's packed run lengths hold the invalid byte {:#04x} at {}",
             static_cast<unsigned char>(text[i]), i);
      if (groups == kMaxGroups)
        fail(ErrorCode::kInvalidFile, "a mask's packed run lengths hold too long a number at {}", i);
      count |= (group & kGroupMask) << (kGroupBits * groups);
      more = (group & kMore) != 0;
      if (!more && (group & kSign) != 0) count -= std::int64_t{1} << (kGroupBits * (groups + 1));
    }
    if (unpacked_.size() > 2) count += unpacked_[unpacked_.size() - 2];
    // Checked here, so that the sum of differences does not overflow.
    if (count < 0 || count > kMaxMaskPixels)
      fail(ErrorCode::kInvalidFile, "a mask's packed run lengths hold the invalid count {}", count);
    unpacked_.push_back(count);
  }
}

Mask RunLengths::decode(std::string_view text, int width, int height) {
  unpack(text);
  return decode(unpacked_, width, height);
}

}  // namespace saccade
