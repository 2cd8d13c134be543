#include "grpc/access.hpp"

#include <grpcpp/security/auth_metadata_processor.h>

#include <algorithm>

#include "base/input_file.hpp"
#include "base/token.hpp"

namespace saccade::serve {
namespace {

std::string_view view(const grpc::string_ref& text) { return {text.data(), text.size()}; }

class TokenCheck final : public grpc::AuthMetadataProcessor {
 public:
  explicit TokenCheck(std::string token) : token_(std::move(token)) {}

  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* /*context*/, OutputMetadata* /*consumed*/,
                       OutputMetadata* /*response*/) override {
    return check_access(metadata, token_);
  }

 private:
  std::string token_;
};

}  // namespace

grpc::Status check_access(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata, const std::string& token) {
  if (token.empty()) return grpc::Status::OK;
  const auto [first, last] = metadata.equal_range("authorization");
  if (std::any_of(first, last, [&](const auto& entry) { return bears_token(view(entry.second), token); }))
    return grpc::Status::OK;
  return {grpc::StatusCode::UNAUTHENTICATED, "the metadata 'authorization' is not 'Bearer' with the server's token"};
}

std::shared_ptr<grpc::ServerCredentials> credentials(const GrpcOptions& options) {
  if (options.certificate.empty()) return grpc::InsecureServerCredentials();
  constexpr std::size_t kLongest = 1 << 20;
  grpc::SslServerCredentialsOptions tls(options.client_ca.empty()
                                            ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                            : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  tls.pem_key_cert_pairs.push_back({read_input(options.key, kLongest), read_input(options.certificate, kLongest)});
  if (!options.client_ca.empty()) tls.pem_root_certs = read_input(options.client_ca, kLongest);
  auto made = grpc::SslServerCredentials(tls);
  if (!options.token.empty()) made->SetAuthMetadataProcessor(std::make_shared<TokenCheck>(options.token));
  return made;
}

}  // namespace saccade::serve
