#include "serve/documents.hpp"

#include "embedded/openapi.hpp"
#include "embedded/serve_page.hpp"

namespace saccade::serve {

void add_documents(std::vector<HttpRoute>& routes) {
  routes.push_back({.path = "/",
                    .reply =
                        [](const HttpRequest& /*request*/) {
                          return page_reply(std::string(embedded::serve_page), embedded::serve_page_policy);
                        },
                    .is_public = true});
  routes.push_back({.path = "/openapi.json",
                    .reply =
                        [](const HttpRequest& /*request*/) {
                          return HttpReply{.status = 200,
                                           .type = "application/json",
                                           .body = std::string(embedded::openapi),
                                           .stream = nullptr,
                                           .headers = {}};
                        },
                    .is_public = true});
}

}  // namespace saccade::serve
