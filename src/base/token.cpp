#include "base/token.hpp"

#include <cstddef>

namespace saccade {

bool equals_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  // Volatile: no compiler may end the loop at the first difference.
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < secret.size(); ++i)
    difference = static_cast<unsigned char>(difference | (given[i] ^ secret[i]));
  return difference == 0;
}

bool bears_token(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kScheme = "Bearer ";
  return authorization.starts_with(kScheme) && equals_secret(authorization.substr(kScheme.size()), token);
}

}  // namespace saccade
