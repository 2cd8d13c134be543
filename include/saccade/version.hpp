#pragma once

namespace saccade {

/// The library's version, "MAJOR.MINOR.PATCH".
const char* version() noexcept;

}  // namespace saccade
