#include "base/error.hpp"

namespace saccade {

void assertion_failed(const char* condition, const char* file, int line) {
  fail(ErrorCode::kInternal, "bug in saccade: '{}' does not hold at {}:{}; please report it with the model", condition,
       file, line);
}

}  // namespace saccade
