#include "http/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

namespace saccade::http {

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  // EVP_DecodeBlock() skips white space around it.
  if (text.find_first_not_of(kAlphabet) != std::string_view::npos) return std::nullopt;
  if (text.size() > std::numeric_limits<int>::max()) return std::nullopt;
  std::string bytes(text.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  // It decodes padding to zeros.
  const std::size_t last = text.find_last_not_of('=');
  const std::size_t padding = last == std::string_view::npos ? 0 : text.size() - 1 - last;
  bytes.resize(static_cast<std::size_t>(size) - std::min<std::size_t>({padding, 2, static_cast<std::size_t>(size)}));
  return bytes;
}

}  // namespace saccade::http
