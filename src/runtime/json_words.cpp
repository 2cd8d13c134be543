#include "runtime/json_words.hpp"

#include <fmt/format.h>

#include <string_view>

namespace saccade {
namespace {

/// The part of TEXT between BEFORE and AFTER; empty if they do not occur.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t begin = text.find(before);
  const std::size_t end = text.rfind(after);
  if (begin == text.npos || end == text.npos || begin + before.size() > end) return {};
  return text.substr(begin + before.size(), end - begin - before.size());
}

}  // namespace

std::string in_words(const nlohmann::json::exception& error) {
  // The error numbers are documented and stable across versions.
  constexpr int kTypeErrors = 300;
  constexpr int kNoUtf8 = 316;
  constexpr int kNoKey = 403;
  constexpr int kNumberOverflow = 406;
  constexpr int kOutOfRange = 400;
  if (const auto* parsing = dynamic_cast<const nlohmann::json::parse_error*>(&error))
    return fmt::format("has a syntax error at byte {}", parsing->byte);
  if (error.id == kNumberOverflow)
    return fmt::format("holds the number {:.40}, which is too large", between(error.what(), "parsing '", "'"));
  if (error.id == kNoUtf8) return "holds a text that is not UTF-8";
  if (error.id == kNoKey) return fmt::format("has no '{}'", between(error.what(), "key '", "' not found"));
  if (error.id >= kOutOfRange) return "lacks an entry";
  if (error.id >= kTypeErrors) return "holds a value of the wrong type";
  return "is invalid";
}

}  // namespace saccade
