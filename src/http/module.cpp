#include "http/base64.hpp"
#include "http/http_server.hpp"
#include "http/metrics.hpp"
#include "http/serve_metrics.hpp"

namespace saccade::http {
namespace {

constexpr HttpModule kModule{
    .listen = listen, .metrics = metrics, .serve_metrics = serve_metrics, .decode_base64 = decode_base64};

}  // namespace
}  // namespace saccade::http

extern "C" const saccade::HttpModule* saccade_module_http() { return &saccade::http::kModule; }
