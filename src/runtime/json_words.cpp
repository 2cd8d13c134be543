#include "runtime/json_words.hpp"

#include <fmt/format.h>

#include <string_view>

namespace saccade {

std::string in_words(const nlohmann::json::exception& error) {
  // Their numbers are documented, and are what stays from version to version.
  constexpr int kTypeErrors = 300;
  constexpr int kNoUtf8 = 316;
  constexpr int kNoKey = 403;
  constexpr int kNumberOverflow = 406;
  constexpr int kOutOfRange = 400;
  if (const auto* parsing = dynamic_cast<const nlohmann::json::parse_error*>(&error))
    return fmt::format("makes no sense at byte {}", parsing->byte);
  if (error.id == kNumberOverflow) return "holds a number that is too large";
  if (error.id == kNoUtf8) return "holds a text that is not UTF-8";
  if (error.id == kNoKey) {
    const std::string_view what = error.what();
    const std::size_t begin = what.find("key '");
    const std::size_t end = what.rfind("' not found");
    if (begin != what.npos && end != what.npos && begin + 5 <= end)
      return fmt::format("has no '{}'", what.substr(begin + 5, end - begin - 5));
  }
  if (error.id >= kOutOfRange) return "lacks an entry";
  if (error.id >= kTypeErrors) return "holds a value of another kind than belongs there";
  return "is not what it should be";
}

}  // namespace saccade
