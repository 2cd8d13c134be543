#include "base/cache_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>

#include "support/temp_folder.hpp"

namespace saccade {
namespace {

TEST(CacheFolder, IsWhereTheEnvironmentSays) {
  unsetenv("SACCADE_CACHE");
  setenv("HOME", "/home/someone", 1);
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_folder(), "/home/someone/.cache/saccade");
  setenv("XDG_CACHE_HOME", "/var/cache", 1);
  EXPECT_EQ(cache_folder(), "/var/cache/saccade");
  setenv("SACCADE_CACHE", "/tmp/mine", 1);
  EXPECT_EQ(cache_folder(), "/tmp/mine");
  setenv("SACCADE_CACHE", "", 1);
  EXPECT_EQ(cache_folder(), "");
}

TEST(WriteWhole, MakesTheFolderAndReplacesTheFile) {
  const test::TempFolder folder;
  const std::string path = folder / "deep" + "/er/file";
  EXPECT_TRUE(write_whole(path, "one"));
  EXPECT_TRUE(write_whole(path, "two"));
  EXPECT_EQ(test::bytes_of_file(path), "two");
  const std::filesystem::directory_iterator files(folder / "deep" + "/er");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "nothing else is left";
}

TEST(WriteWhole, SaysWhereItCannot) {
  const test::TempFolder folder;
  folder.write("file", "");
  EXPECT_FALSE(write_whole(folder / "file" + "/below", "text"));
}

}  // namespace
}  // namespace saccade
