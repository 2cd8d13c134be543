#include "base/record_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "support/size_limit.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

Clock::time_point set_time;
Clock::time_point time_as_set() { return set_time; }

/// The contents of the NUMBERth file of the series out; "-" if it is not there.
std::string contents(const test::TempFolder& folder, int number) {
  const std::string path = folder / fmt::format("out-{:06}", number);
  return fs::exists(path) ? test::bytes_of_file(path) : "-";
}

TEST(RecordFile, IsOneFileWithoutARotation) {
  const test::TempFolder folder;
  RecordFile file(folder / "out", {.keep = 1}, {.header = "[", .separator = ",", .end = "]"});
  EXPECT_FALSE(fs::exists(folder / "out"));
  file.append("");
  EXPECT_EQ(test::bytes_of_file(folder / "out"), "[]");
  file.append("1");
  file.append("");
  file.append("2");
  EXPECT_EQ(test::bytes_of_file(folder / "out"), "[1,2]");
  file.close();
  EXPECT_EQ(test::bytes_of_file(folder / "out"), "[1,2]");
}

TEST(RecordFile, NoFileIsLargerThanItsSizeExceptForOneRecord) {
  const test::TempFolder folder;
  RecordFile file(folder / "out", {.bytes = 8}, {.header = "[", .separator = ",", .end = "]"});
  for (const char* record : {"123", "45", "6", "7890123456", "7"}) file.append(record);
  EXPECT_EQ(contents(folder, 1), "[123,45]");
  EXPECT_EQ(contents(folder, 2), "[6]");
  EXPECT_EQ(contents(folder, 3), "[7890123456]");
  EXPECT_EQ(contents(folder, 4), "[7]");
  file.close("last record");
  EXPECT_EQ(contents(folder, 4), "[7last record]");
  EXPECT_EQ(contents(folder, 5), "-");
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(RecordFile, AFileLastsForItsPeriodFromItsFirstRecord) {
  const test::TempFolder folder;
  set_time = Clock::time_point(seconds(1000));
  RecordFile file(folder / "out", {.period = seconds(10)}, {}, time_as_set);
  set_time += seconds(100);  // before the first record
  file.append("a");
  set_time += seconds(9);
  file.append("b");
  set_time += seconds(1);
  file.append("");
  file.append("c");
  set_time += seconds(9);
  file.append("d");
  EXPECT_EQ(contents(folder, 1), "ab");
  EXPECT_EQ(contents(folder, 2), "cd");
}

TEST(RecordFile, KeepsTheLatestFiles) {
  const test::TempFolder folder;
  RecordFile file(folder / "out", {.bytes = 1, .keep = 1});
  for (const char* record : {"a", "b", "c"}) file.append(record);
  EXPECT_EQ(contents(folder, 1), "-");
  EXPECT_EQ(contents(folder, 2), "b");
  EXPECT_EQ(contents(folder, 3), "c");
  file.close();
  EXPECT_EQ(contents(folder, 2), "-");
  EXPECT_EQ(contents(folder, 3), "c");
}

TEST(RecordFile, AFolderThatIsAwayCostsTheRecordsOfThatTime) {
  const test::TempFolder folder;
  fs::create_directory(folder / "disk");
  RecordFile file(folder / "disk/out", {.bytes = 1});
  file.append("a");
  fs::rename(folder / "disk", folder / "away");
  EXPECT_THROW(file.append("b"), Error);
  EXPECT_THROW(file.append("c"), Error);
  fs::rename(folder / "away", folder / "disk");
  file.append("d");
  file.close();
  EXPECT_EQ(test::bytes_of_file(folder / "disk/out-000001"), "a");
  EXPECT_EQ(test::bytes_of_file(folder / "disk/out-000002"), "d");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "disk"), {}), 2);
}

TEST(RecordFile, AFullDiskCostsTheRecordsOfThatTime) {
  const test::TempFolder folder;
  RecordFile file(folder / "out", {.bytes = 10}, {.header = "[", .separator = ",", .end = "]"});
  file.append("12");
  {
    const test::SizeLimit limit(4);
    EXPECT_THROW(file.append("34"), Error);
    EXPECT_THROW(file.append("567890"), Error) << "in a file of its own";
  }
  file.append("7");
  file.close();
  EXPECT_EQ(contents(folder, 1), "[12]");
  EXPECT_EQ(contents(folder, 2), "[7]");
}

TEST(RecordFile, ADeviceDoesNotRotate) {
  RecordFile file("/dev/null", {.bytes = 1});
  for (int i = 0; i < 3; ++i) file.append("record");
  file.close();
  EXPECT_FALSE(fs::exists("/dev/null-000001"));
}

}  // namespace
}  // namespace saccade
