#include <algorithm>
#include <array>
#include <charconv>

#include "base/enum_name.hpp"
#include "base/error.hpp"
#include "saccade/device.hpp"
#include "saccade/isa.hpp"
#include "saccade/nms.hpp"
#include "saccade/tiles.hpp"

// The text forms of the options' types, which flags and plan files use.
namespace saccade {
namespace {

// Each in the order of its enumeration.
constexpr std::array<std::string_view, 4> kDeviceNames = {"auto", "cpu", "cuda", "reference"};
constexpr std::array<std::string_view, 5> kPrecisionNames = {"auto", "fp32", "tf32", "fp16", "bf16"};
constexpr std::array<std::string_view, 4> kIsaNames = {"sse4", "avx2", "avx512", "amx"};
constexpr std::array<std::string_view, 4> kNmsNames = {"greedy", "linear", "gaussian", "none"};
constexpr std::array<std::string_view, 2> kTileMergeNames = {"nmm", "nms"};

/// The value of type T that NAME stands for. WHAT is its kind in the error.
template <typename T, std::size_t Count>
T parse_option(std::string_view what, std::string_view name, const std::array<std::string_view, Count>& names) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    fail(ErrorCode::kInvalidArgument, "the {} '{}' is not known: use one of {}", what, name, fmt::join(names, ", "));
  return static_cast<T>(found - names.begin());
}

}  // namespace

Device Device::parse(std::string_view name) {
  constexpr std::string_view kNumbered = "cuda:";
  if (const auto found = std::ranges::find(kDeviceNames, name); found != kDeviceNames.end())
    return {static_cast<Kind>(found - kDeviceNames.begin()), 0};
  const std::string_view number = name.starts_with(kNumbered) ? name.substr(kNumbered.size()) : std::string_view();
  int ordinal = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
  if (error != std::errc() || end != number.data() + number.size() || ordinal < 0)
    fail(ErrorCode::kInvalidArgument, "the device '{}' is not known: use auto, cpu, cuda, cuda:N or reference", name);
  return cuda(ordinal);
}

std::string to_string(const Device& device) {
  const std::string_view kind = to_string(device.kind);
  return device.ordinal == 0 ? std::string(kind) : fmt::format("{}:{}", kind, device.ordinal);
}

std::string_view to_string(Device::Kind kind) noexcept { return enum_name(kind, kDeviceNames); }

Precision parse_precision(std::string_view name) { return parse_option<Precision>("precision", name, kPrecisionNames); }

std::string_view to_string(Precision precision) noexcept { return enum_name(precision, kPrecisionNames); }

Isa parse_isa(std::string_view name) { return parse_option<Isa>("instruction set", name, kIsaNames); }

std::string_view to_string(Isa isa) noexcept { return enum_name(isa, kIsaNames); }

Nms parse_nms(std::string_view name) { return parse_option<Nms>("NMS method", name, kNmsNames); }

std::string_view to_string(Nms nms) noexcept { return enum_name(nms, kNmsNames); }

TileMerge parse_tile_merge(std::string_view name) {
  return parse_option<TileMerge>("method of merging tiles", name, kTileMergeNames);
}

void check_tiles(const TileOptions& options) {
  constexpr int kSmallest = 32;
  constexpr int kLargest = 16384;
  constexpr float kMostOverlap = 0.9F;
  if (options.size < kSmallest || options.size > kLargest)
    fail(ErrorCode::kInvalidArgument, "the tile size {} is not between {} and {} pixels", options.size, kSmallest,
         kLargest);
  if (!(options.overlap >= 0 && options.overlap <= kMostOverlap))  // true for a NaN
    fail(ErrorCode::kInvalidArgument, "the overlap {} of tiles is not between 0 and {}", options.overlap, kMostOverlap);
}

std::string_view to_string(TileMerge merge) noexcept { return enum_name(merge, kTileMergeNames); }

}  // namespace saccade
