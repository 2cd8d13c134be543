#include "http/credentials.hpp"

#include <boost/beast/core/string.hpp>
#include <string>

#include "base/token.hpp"
#include "http/base64.hpp"
#include "http/error_reply.hpp"
#include "http/host_name.hpp"

namespace saccade::http {
namespace {

/// Whether the password of Basic authentication is TOKEN; any user has it.
bool has_password(std::string_view authorization, const std::string& token) {
  constexpr std::string_view kScheme = "Basic ";
  constexpr std::size_t kLongest = 8192;
  if (!authorization.starts_with(kScheme) || authorization.size() > kLongest) return false;
  const std::optional<std::string> login = decode_base64(authorization.substr(kScheme.size()));
  const std::size_t colon = login ? login->find(':') : std::string::npos;
  return colon != std::string::npos && equals_secret(std::string_view(*login).substr(colon + 1), token);
}

/// Whether the request may be that of a page of this server, or of no page. A page of another site can send a request
/// although it can't read the reply.
bool is_own_page(const Claims& claims) {
  if (claims.origin.empty()) return true;
  const std::size_t scheme = claims.origin.find("://");
  return scheme != std::string_view::npos && boost::beast::iequals(claims.origin.substr(scheme + 3), claims.host);
}

}  // namespace

std::optional<HttpReply> refusal(const HttpOptions& options, bool is_public, const Claims& claims) {
  if (options.token.empty()) {
    const bool is_closed = options.for_browsers || options.own_names_only;
    const bool is_named = !is_closed || names_this_machine(claims.host);
    return is_named && is_own_page(claims) ? std::nullopt : std::optional(error_reply(403));
  }
  if (is_public || bears_token(claims.authorization, options.token)) return std::nullopt;
  if (options.for_browsers && has_password(claims.authorization, options.token)) return std::nullopt;
  HttpReply reply = error_reply(401);
  reply.headers.emplace_back("WWW-Authenticate",
                             options.for_browsers ? "Basic realm=\"saccade: the token is the password\"" : "Bearer");
  return reply;
}

}  // namespace saccade::http
