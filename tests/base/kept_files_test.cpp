#include "base/kept_files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/ordinary_user.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

class KeptFiles : public testing::Test {
 protected:
  KeptFiles() { setenv("SACCADE_CACHE", folder_.string().c_str(), 1); }
  ~KeptFiles() override { unsetenv("SACCADE_CACHE"); }
  test::TempFolder folder_;
};

TEST_F(KeptFiles, AreThereAgain) {
  EXPECT_FALSE(kept_file("kernels", "key"));
  keep_file("kernels", "key", std::string("\0code", 5));
  keep_file("kernels", "empty", "");
  EXPECT_EQ(kept_file("kernels", "key"), std::string("\0code", 5));
  EXPECT_EQ(kept_file("kernels", "empty"), "");
  EXPECT_FALSE(kept_file("kernels", "other"));
  EXPECT_FALSE(kept_file("other", "key"));
}

TEST_F(KeptFiles, ArePassedOverWhereDamaged) {
  keep_file("kernels", "key", "machine code");
  const std::string path = folder_ / "kernels/key";
  std::string bytes = test::bytes_of_file(path);
  bytes.back() = 'E';
  folder_.write("kernels/key", bytes);
  EXPECT_FALSE(kept_file("kernels", "key"));
  folder_.write("kernels/key", "short");
  EXPECT_FALSE(kept_file("kernels", "key"));
  keep_file("kernels", "key", "machine code");
  EXPECT_EQ(kept_file("kernels", "key"), "machine code") << "rewritten";
}

TEST_F(KeptFiles, AreDoneWithoutWhereTheFolderCannotBeWritten) {
  using std::filesystem::perms;
  std::filesystem::permissions(folder_.string(), perms::owner_read | perms::owner_exec);
  const test::OrdinaryUser user;
  keep_file("kernels", "key", "machine code");
  EXPECT_FALSE(kept_file("kernels", "key"));
  std::filesystem::permissions(folder_.string(), perms::owner_all);
}

}  // namespace
}  // namespace saccade
