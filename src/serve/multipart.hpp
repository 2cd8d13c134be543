#pragma once

#include <string_view>

#include "base/http_module.hpp"

namespace saccade::serve {

/// The file in REQUEST's body: the whole body, or of multipart/form-data the part that is a file. Throws Error
/// (kInvalidArgument) if there is none, or several.
std::string_view image_in(const HttpRequest& request);

}  // namespace saccade::serve
