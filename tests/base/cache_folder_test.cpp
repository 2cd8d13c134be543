#include "base/cache_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>

#include "support/size_limit.hpp"
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

TEST(WriteWhole, ReportsWhyItCannot) {
  const test::TempFolder folder;
  folder.write("file", "");
  EXPECT_FALSE(write_whole(folder / "file" + "/below", "text"));
  EXPECT_EQ(errno, ENOTDIR);
}

/// The names of the folder's entries.
std::vector<std::string> files_in(const test::TempFolder& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder.string())) names.push_back(file.path().filename());
  return names;
}

TEST(WriteWhole, LeavesNothingIfAFolderHasItsName) {
  const test::TempFolder folder;
  std::filesystem::create_directory(folder / "taken");
  EXPECT_FALSE(write_whole(folder / "taken", "text"));
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"taken"});
}

TEST(WriteWhole, LeavesNothingIfTheDiskIsFull) {
  const test::TempFolder folder;
  ASSERT_TRUE(write_whole(folder / "file", "old"));
  bool written = true;
  int why = 0;
  {
    const test::SizeLimit full(4096);
    written = write_whole(folder / "file", std::string(1 << 20, 'x'));
    why = errno;
  }
  EXPECT_FALSE(written);
  EXPECT_EQ(why, EFBIG);
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"file"});
  EXPECT_EQ(test::bytes_of_file(folder / "file"), "old");
}

}  // namespace
}  // namespace saccade
