#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/http_module.hpp"

namespace saccade::http {

/// Which route serves a request.
class Routes {
 public:
  struct Match {
    const HttpRoute* route = nullptr;  ///< null: none
    std::vector<std::string> names;    ///< what stands for each "{}"
    std::string allowed;               ///< with no route: the methods that the path has; empty: there is no such path
  };

  explicit Routes(std::vector<HttpRoute> routes);

  Match find(std::string_view method, std::string_view path) const;
  /// The largest body of all.
  std::size_t most_bytes() const;

 private:
  std::vector<HttpRoute> routes_;
};

}  // namespace saccade::http
