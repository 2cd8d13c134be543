#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace saccade::serve {

// All functions throw Error (kInvalidArgument) in one sentence for the client.

/// The object in TEXT.
nlohmann::json parse_object(std::string_view text);

/// OBJECT's member NAME of the kind that IS tests, which KIND names; null if there is none.
const nlohmann::json* member(const nlohmann::json& object, const char* name,
                             bool (nlohmann::json::*is)() const noexcept, const char* kind);

/// The entry NAME of OBJECT's parameters; null if there is none.
const nlohmann::json* parameter(const nlohmann::json& object, const char* name);

/// OBJECT's member NAME, a number of bytes; nullopt if there is none.
std::optional<std::uint64_t> byte_count(const nlohmann::json& object, const char* name);

}  // namespace saccade::serve
