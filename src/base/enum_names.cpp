#include "base/enum_name.hpp"
#include "saccade/drop_policy.hpp"
#include "saccade/error.hpp"
#include "saccade/frame.hpp"
#include "saccade/outcome.hpp"
#include "saccade/source.hpp"
#include "saccade/telemetry.hpp"

// The text forms of the enumerations that no flag and no file format has.
namespace saccade {

std::string_view to_string(Decoding decoding) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"auto", "cpu", "cuda"};
  return enum_name(decoding, kNames);
}

std::string_view to_string(DropPolicy policy) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"auto", "wait", "oldest", "newest"};
  return enum_name(policy, kNames);
}

std::string_view to_string(ErrorCode code) noexcept {
  constexpr std::array<std::string_view, 8> kNames = {"invalid argument", "not found", "input or output",
                                                      "invalid file",     "conflict",  "unsupported",
                                                      "device",           "internal"};
  return enum_name(code, kNames);
}

std::string_view to_string(Status status) noexcept {
  constexpr std::array<std::string_view, 8> kNames = {"end",       "timeout", "cancelled", "corrupt",
                                                      "no buffer", "behind",  "lost",      "failed"};
  return enum_name(status, kNames);
}

std::string_view to_string(StreamState state) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"running", "connecting", "ended", "lost"};
  return enum_name(state, kNames);
}

std::string_view to_string(ColorMatrix matrix) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"bt601", "bt709", "bt2020"};
  return enum_name(matrix, kNames);
}

std::string_view to_string(ColorRange range) noexcept {
  constexpr std::array<std::string_view, 2> kNames = {"limited", "full"};
  return enum_name(range, kNames);
}

std::string_view to_string(MemoryKind kind) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"plain", "pinned", "device", "dmabuf"};
  return enum_name(kind, kNames);
}

}  // namespace saccade
