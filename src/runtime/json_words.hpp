#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace saccade {

/// A JSON error without the library's internals, to be appended to the file's name: "has a syntax error at byte 12",
/// "has no 'models'".
std::string in_words(const nlohmann::json::exception& error);

}  // namespace saccade
