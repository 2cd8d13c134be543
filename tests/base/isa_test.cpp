#include "saccade/isa.hpp"

#include <gtest/gtest.h>

#include "base/cpu_features.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

TEST(Isa, HasNames) {
  for (const Isa isa : {Isa::kSse4, Isa::kAvx2, Isa::kAvx512, Isa::kAmx}) EXPECT_EQ(parse_isa(to_string(isa)), isa);
  EXPECT_THROW(parse_isa("neon"), Error);
}

TEST(Isa, IsFixedOnceKernelsAreChosenByIt) {
  cpu_features();
  EXPECT_THROW(limit_isa(Isa::kSse4), Error);
  EXPECT_NO_THROW(limit_isa(isa_limit()));
}

}  // namespace
}  // namespace saccade
