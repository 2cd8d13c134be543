#include "base/file_series.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

/// The next file of SERIES, created.
std::string create_next(FileSeries& series) {
  const std::string path = series.next();
  EXPECT_FALSE(fs::exists(path)) << path;
  std::ofstream(path) << path;
  return fs::path(path).filename().string();
}

TEST(FileSeries, NumbersFilesBeforeTheirExtension) {
  const test::TempFolder folder;
  FileSeries series(folder / "cam.1.jsonl", 0);
  EXPECT_EQ(create_next(series), "cam.1-000001.jsonl");
  EXPECT_EQ(create_next(series), "cam.1-000002.jsonl");
  FileSeries plain(folder / "log", 0);
  EXPECT_EQ(create_next(plain), "log-000001");
}

TEST(FileSeries, GoesOnAfterTheHighestNumberThatIsThere) {
  const test::TempFolder folder;
  for (const char* name : {"out-000003.csv", "out-1234567.csv", "out-12.csv", "out-00000x.csv", "out-000009.txt",
                           "out-99999999999999999999999.csv", "out-1-900000000.csv", "out.csv"})
    folder.write(name, "old");
  FileSeries series(folder / "out.csv", 1);
  EXPECT_EQ(create_next(series), "out-1234568.csv");
  folder.write("out-1234569.csv", "of another run");
  EXPECT_EQ(create_next(series), "out-1234570.csv");
  EXPECT_EQ(test::bytes_of_file(folder / "out-1234569.csv"), "of another run");
}

TEST(FileSeries, KeepsTheLatestFinishedFilesAndThoseOfEarlierRuns) {
  const test::TempFolder folder;
  folder.write("out-000001.csv", "old");
  FileSeries series(folder / "out.csv", 2);
  for (int i = 0; i < 4; ++i) create_next(series);  // 2 to 5, the last one unfinished
  const auto is_there = [&](int number) { return fs::exists(folder / fmt::format("out-{:06}.csv", number)); };
  for (const int number : {1, 3, 4, 5}) EXPECT_TRUE(is_there(number)) << number;
  EXPECT_FALSE(is_there(2));
  series.finish();
  series.finish();
  for (const int number : {1, 4, 5}) EXPECT_TRUE(is_there(number)) << number;
  EXPECT_FALSE(is_there(3));
}

TEST(FileSeries, ANameIsUsedOnceUnlessItsFileWasNeverThere) {
  const test::TempFolder folder;
  FileSeries series(folder / "out.csv", 1);
  EXPECT_EQ(series.next(), folder / "out-000001.csv");
  EXPECT_EQ(create_next(series), "out-000001.csv");
  EXPECT_EQ(create_next(series), "out-000002.csv");
  fs::remove(folder / "out-000001.csv");  // collected by another program
  EXPECT_EQ(create_next(series), "out-000003.csv");
  EXPECT_EQ(create_next(series), "out-000004.csv");
}

TEST(FileSeries, LiesBehindALink) {
  const test::TempFolder folder;
  fs::create_directory(folder / "disk");
  fs::create_symlink("disk/far.csv", folder / "out.csv");
  FileSeries series(folder / "out.csv", 0);
  EXPECT_EQ(series.next(), folder / "disk/far-000001.csv");
}

TEST(FileSeries, RefusesAFolder) {
  const test::TempFolder folder;
  EXPECT_THROW(FileSeries(folder.string(), 0), Error);
  EXPECT_THROW(FileSeries(folder / "", 0), Error);
}

}  // namespace
}  // namespace saccade
