#include "http/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstring>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace saccade::http {
namespace {

/// The reason of OpenSSL's first error.
std::string tls_reason() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (ERR_GET_LIB(error) == ERR_LIB_SYS) return std::strerror(ERR_GET_REASON(error));
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "it is not a PEM file of that content" : reason;
}

}  // namespace

std::unique_ptr<boost::asio::ssl::context> tls_context(const HttpOptions& options) {
  if (options.certificate.empty()) return nullptr;
  auto context = std::make_unique<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
  SSL_CTX* tls = context->native_handle();
  SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
  // OpenSSL would ask for a password on the terminal.
  SSL_CTX_set_default_passwd_cb(tls, [](char*, int, int, void*) { return 0; });
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(tls, options.certificate.c_str()) != 1)
    fail(ErrorCode::kInvalidFile, "can't use the certificate {}: {}", options.certificate, tls_reason());
  if (SSL_CTX_use_PrivateKey_file(tls, options.key.c_str(), SSL_FILETYPE_PEM) != 1)
    fail(ErrorCode::kInvalidFile, "can't use the private key {} with the certificate {}: {}", options.key,
         options.certificate, tls_reason());
  if (options.client_ca.empty()) return context;
  if (SSL_CTX_load_verify_locations(tls, options.client_ca.c_str(), nullptr) != 1)
    fail(ErrorCode::kInvalidFile, "can't use the clients' authority {}: {}", options.client_ca, tls_reason());
  // Without one, OpenSSL refuses to resume the sessions of clients with certificates.
  constexpr std::string_view kSessions = "saccade";
  SSL_CTX_set_session_id_context(tls, reinterpret_cast<const unsigned char*>(kSessions.data()), kSessions.size());
  SSL_CTX_set_client_CA_list(tls, SSL_load_client_CA_file(options.client_ca.c_str()));
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return context;
}

}  // namespace saccade::http
