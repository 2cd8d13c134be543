#pragma once

#include "measure/statistics/units.hpp"

namespace saccade::test {

inline Nanoseconds ms(double value) { return Nanoseconds(value * 1e6); }

}  // namespace saccade::test
