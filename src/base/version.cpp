#include "saccade/version.hpp"

namespace saccade {

const char* version() noexcept { return SACCADE_VERSION; }

}  // namespace saccade
