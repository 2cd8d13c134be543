#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/subprocess.hpp"

namespace saccade::test {

/// Expects one line on standard error, "saccade: error: ...", that contains every one of PARTS.
inline void expect_error(const Finished& finished, int exit_code, const std::vector<std::string>& parts) {
  EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  EXPECT_TRUE(finished.err.starts_with("saccade: error: ")) << finished.err;
  for (const std::string& part : parts) EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
}

}  // namespace saccade::test
