#include "runtime/plan_container.hpp"

#include <cstring>

#include "base/digest.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

constexpr std::string_view kMagic = "SACCPLAN";
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kHeaderDigest = 12;
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kBlobDigest = kHeaderDigest + kDigestBytes;
constexpr std::size_t kHeaderBytes = kBlobDigest + kDigestBytes;
constexpr std::size_t kBlobBytes = kHeaderBytes + sizeof(std::uint64_t);
static_assert(kBlobBytes + sizeof(std::uint64_t) == kPlanPrefix);

std::size_t aligned_offset(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

template <typename Number>
Number number_at(std::string_view bytes, std::size_t place) {
  Number number;
  std::memcpy(&number, bytes.data() + place, sizeof number);
  return number;
}

template <typename Number>
void append_number(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void expect(bool is_whole) {
  if (!is_whole) fail(ErrorCode::kInvalidFile, "it is damaged, its checksum differs: compile the plan again");
}

}  // namespace

bool starts_plan(std::string_view start) { return start.starts_with(kMagic); }

std::string seal_plan(std::string_view header, std::string_view blob) {
  std::string covered = digest(blob);
  append_number<std::uint64_t>(covered, header.size());
  append_number<std::uint64_t>(covered, blob.size());
  covered += header;
  covered.resize(aligned_offset(kBlobDigest + covered.size()) - kBlobDigest);
  std::string whole(kMagic);
  append_number(whole, kPlanVersion);
  whole.reserve(kBlobDigest + covered.size() + blob.size());
  whole += digest(covered);
  whole += covered;
  whole += blob;
  return whole;
}

PlanLayout plan_layout(std::string_view start, std::size_t file_bytes) {
  const auto expect_bytes = [&](std::uint64_t bytes) {
    if (file_bytes < bytes) fail(ErrorCode::kInvalidFile, "it is truncated: compile the plan again");
  };
  expect_bytes(kHeaderDigest);
  const auto version = number_at<std::uint32_t>(start, kVersionAt);
  if (version != kPlanVersion)
    fail(ErrorCode::kInvalidFile, "it is a plan of version {}, this saccade reads {}: compile it again", version,
         kPlanVersion);
  expect_bytes(kPlanPrefix);
  const auto header = number_at<std::uint64_t>(start, kHeaderBytes);
  const auto blob = number_at<std::uint64_t>(start, kBlobBytes);
  // Before they are added, because the sum may overflow.
  expect_bytes(header);
  expect_bytes(blob);
  PlanLayout layout{.header_bytes = header, .blob = aligned_offset(kPlanPrefix + header), .blob_bytes = blob};
  expect_bytes(layout.blob + layout.blob_bytes);
  if (const std::size_t more = file_bytes - layout.blob - layout.blob_bytes; more != 0)
    fail(ErrorCode::kInvalidFile, "it has {} bytes too many: compile the plan again", more);
  return layout;
}

std::string_view plan_header(std::string_view start, const PlanLayout& layout) {
  const std::string_view covered = start.substr(kBlobDigest, layout.blob - kBlobDigest);
  expect(digest(covered) == start.substr(kHeaderDigest, kDigestBytes));
  return start.substr(kPlanPrefix, layout.header_bytes);
}

std::string_view plan_blob(std::string_view whole, const PlanLayout& layout, const std::function<void()>& after_part) {
  constexpr std::size_t kPart = std::size_t{16} << 20;
  const std::string_view blob = whole.substr(layout.blob, layout.blob_bytes);
  Digest found;
  for (std::size_t at = 0; at < blob.size(); at += kPart) {
    found.update(blob.substr(at, kPart));
    if (after_part) after_part();
  }
  expect(found.text() == whole.substr(kBlobDigest, kDigestBytes));
  return blob;
}

}  // namespace saccade
