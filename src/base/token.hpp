#pragma once

#include <string_view>

namespace saccade {

/// Whether GIVEN is SECRET, in a time that does not depend on how much of it is right.
bool equals_secret(std::string_view given, std::string_view secret);

/// Whether AUTHORIZATION is "Bearer TOKEN", in a time that does not depend on how much of the token is right.
bool bears_token(std::string_view authorization, std::string_view token);

}  // namespace saccade
