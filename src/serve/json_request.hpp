#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "base/error.hpp"

namespace saccade::serve {

// Reading the JSON of requests. All functions throw Error (kInvalidArgument) in one sentence that names what is wrong.

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorCode::kInvalidArgument, format, std::forward<Args>(args)...);
}

/// The object that TEXT is.
nlohmann::json parse_object(std::string_view text);

/// OBJECT's member NAME of the kind that IS tests; null if there is none.
const nlohmann::json* member(const nlohmann::json& object, const char* name,
                             bool (nlohmann::json::*is)() const noexcept, const char* kind);

/// The member NAME of OBJECT's "parameters"; null if there is none.
const nlohmann::json* parameter(const nlohmann::json& object, const char* name);

/// A parameter that is true or false; OTHERWISE if there is none.
bool flag(const nlohmann::json& object, const char* name, bool otherwise);

/// OBJECT's member NAME, a number of bytes; nullopt if there is none.
std::optional<std::uint64_t> byte_count(const nlohmann::json& object, const char* name);

}  // namespace saccade::serve
