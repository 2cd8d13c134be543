#include "serve/documents.hpp"

#include "embedded/serve_page.hpp"

namespace saccade::serve {

void add_documents(std::vector<HttpRoute>& routes) {
  routes.push_back({.path = "/",
                    .reply =
                        [](const HttpRequest& /*request*/) {
                          return page_reply(std::string(embedded::serve_page), embedded::serve_page_policy);
                        },
                    .is_public = true});
}

}  // namespace saccade::serve
