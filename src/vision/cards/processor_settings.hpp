#pragma once

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace saccade {

/// An object of a JSON file that another tool wrote. Every function throws Error (kInvalidFile) with file and key.
class ProcessorSettings {
 public:
  static constexpr int kMostSide = 16384;

  ProcessorSettings(const std::filesystem::path& file, const nlohmann::json& object) : file_(file), object_(object) {}

  template <typename... Args>
  [[noreturn]] void bad(std::string_view key, fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorCode::kInvalidFile, "{}: '{}' {}; a card (--card FILE) takes its place", file_.string(), key,
         fmt::format(format, std::forward<Args>(args)...));
  }

  const nlohmann::json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  bool flag(const char* key, bool missing) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return missing;
    if (!value->is_boolean()) bad(key, "is not true or false");
    return value->get<bool>();
  }
  double wide_number(const char* key, const nlohmann::json& value) const {
    const double wide = value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity();
    if (!(std::abs(wide) <= std::numeric_limits<float>::max())) bad(key, "is not a number in the float32 range");
    return wide;
  }
  float number(const char* key, const nlohmann::json& value) const {
    return static_cast<float>(wide_number(key, value));
  }
  float number(const char* key, float missing) const {
    const nlohmann::json* value = find(key);
    return value == nullptr ? missing : number(key, *value);
  }
  int side(const char* key, const nlohmann::json& value) const {
    const double wide = value.is_number() ? value.get<double>() : 0;
    if (!(wide >= 1 && wide <= kMostSide)) bad(key, "is not in 1..{}", kMostSide);
    return static_cast<int>(wide);
  }
  /// The side of an image whose centre of SIDE_AFTER pixels is the share `crop_pct`, at most MOST; rounded down, as the
  /// tools do.
  int side_before_crop(int side_after, double missing, double most = 1) const {
    const nlohmann::json* value = find("crop_pct");
    const double share = value == nullptr ? missing : wide_number("crop_pct", *value);
    if (!(share > 0 && share <= most)) bad("crop_pct", "is not above 0 and at most {}", most);
    return side("crop_pct", std::floor(side_after / share));
  }
  std::string text(const char* key, const char* missing) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return missing;
    if (!value->is_string()) bad(key, "is not a string");
    return value->get<std::string>();
  }
  /// Three numbers, or one for all channels.
  std::array<float, 3> numbers(const char* key, const std::array<float, 3>& missing) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return missing;
    if (value->is_array() && value->size() == 3) {
      std::array<float, 3> three{};
      for (std::size_t i = 0; i < 3; ++i) three[i] = number(key, (*value)[i]);
      return three;
    }
    const float same = number(key, value->is_array() && value->size() == 1 ? (*value)[0] : *value);
    return {same, same, same};
  }
  const nlohmann::json& object() const { return object_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  const std::filesystem::path& file_;
  const nlohmann::json& object_;
};

}  // namespace saccade
