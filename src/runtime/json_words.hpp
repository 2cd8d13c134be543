#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace saccade {

/// What is wrong with a file's JSON, in our words, which the caller puts behind the file's name: the library's own name
/// its internals. "has a syntax error at byte 12", "has no 'models'".
std::string in_words(const nlohmann::json::exception& error);

}  // namespace saccade
