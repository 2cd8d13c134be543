#include "base/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/temporaries.hpp"
#include "support/ordinary_user.hpp"
#include "support/size_limit.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const test::TempFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.string())) names.push_back(entry.path().filename().string());
  return names;
}

TEST(OutputFile, AppearsCompleteOrNotAtAll) {
  const test::TempFolder folder;
  const std::string path = folder.write("out", "old");
  {
    OutputFile given_up(path);
    given_up.write("new");
    given_up.flush();
    EXPECT_EQ(test::bytes_of_file(path), "old");
  }
  EXPECT_EQ(test::bytes_of_file(path), "old");
  OutputFile file(path);
  file.write("new");
  file.close();
  EXPECT_EQ(test::bytes_of_file(path), "new");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"out"});
}

TEST(OutputFile, WhatGrowsAppearsWithItsFirstBytes) {
  const test::TempFolder folder;
  const std::string path = folder.write("out", "old");
  OutputFile file(path, OutputFile::Appears::kAtOnce);
  file.write("first ");
  EXPECT_EQ(test::bytes_of_file(path), "old");
  file.flush();
  EXPECT_EQ(test::bytes_of_file(path), "first ");
  file.write("second");
  file.flush();
  EXPECT_EQ(test::bytes_of_file(path), "first second");
}

TEST(OutputFile, KeepsItsEndWhileItGrows) {
  const test::TempFolder folder;
  OutputFile file(folder / "list", OutputFile::Appears::kAtOnce);
  file.write("[1");
  file.write_end("]\n");
  EXPECT_EQ(test::bytes_of_file(folder / "list"), "[1]\n");
  file.write(",2");
  file.write_end("]\n");
  EXPECT_EQ(test::bytes_of_file(folder / "list"), "[1,2]\n");
  file.write("]\n");
  file.close();
  EXPECT_EQ(test::bytes_of_file(folder / "list"), "[1,2]\n");
}

/// A disk that was full for a while costs the texts of that time, no others.
TEST(OutputFile, GoesOnAfterAFailure) {
  const test::TempFolder folder;
  for (const bool has_end : {false, true}) {
    for (const std::size_t first_failure : {0, 2}) {
      const std::string path = folder / "grown.txt";
      OutputFile file(path, OutputFile::Appears::kAtOnce);
      const auto append = [&](const std::string& text) {
        file.write(text);
        has_end ? file.write_end("END") : file.flush();
      };
      file.write_header("HEADER\n");
      for (std::size_t i = 0; i < first_failure; ++i) append("before\n");
      {
        const test::SizeLimit full(first_failure == 0 ? 3 : 24);
        for (int i = 0; i < 3; ++i) EXPECT_THROW(append("lost text\n"), Error);
      }
      append("after\n");
      append("end\n");
      file.close();
      const std::string before = first_failure == 0 ? "" : "before\nbefore\n";
      EXPECT_EQ(test::bytes_of_file(path), "HEADER\n" + before + "after\nend\n" + (has_end ? "END" : ""));
    }
  }
}

TEST(OutputFile, DoesNotReachThroughHardLinks) {
  const test::TempFolder folder;
  const std::string mine = folder.write("mine", "mine");
  fs::create_hard_link(mine, folder / "out");
  OutputFile file(folder / "out", OutputFile::Appears::kAtOnce);
  file.write("new");
  file.close();
  EXPECT_EQ(test::bytes_of_file(mine), "mine");
  EXPECT_EQ(test::bytes_of_file(folder / "out"), "new");
}

TEST(OutputFile, FollowsSymbolicLinks) {
  const test::TempFolder folder;
  fs::create_directory(folder / "there");
  fs::create_symlink("there/file", folder / "link");
  for (const char* text : {"first", "second"}) {  // no file yet, then an existing one
    OutputFile file(folder / "link");
    file.write(text);
    file.close();
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(test::bytes_of_file(folder / "there/file"), text);
  }
  fs::create_symlink("loop", folder / "loop");
  EXPECT_THROW(OutputFile(folder / "loop"), Error);
}

TEST(OutputFile, WritesToDevicesAsTheyAre) {
  const test::TempFolder folder;
  fs::create_symlink("/dev/null", folder / "null");
  for (const std::string& path : {std::string("/dev/null"), folder / "null"}) {
    OutputFile file(path);
    EXPECT_TRUE(file.is_stream());
    file.write("gone");
    file.close();
  }
  EXPECT_TRUE(fs::is_symlink(folder / "null"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(OutputFile, KeepsTheModeOfWhatItReplaces) {
  const test::TempFolder folder;
  const std::string path = folder.write("out", "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  OutputFile file(path);
  file.close();
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(OutputFile, RefusesWhatItsUserMayNotWrite) {
  const test::OrdinaryUser user;
  const test::TempFolder folder;
  const std::string path = folder.write("out", "kept");
  fs::permissions(path, fs::perms::owner_read);
  EXPECT_THROW(OutputFile{path}, Error);
  EXPECT_THROW(OutputFile{folder.string()}, Error);
  EXPECT_THROW(OutputFile{folder / "new/"}, Error);
  EXPECT_THROW(OutputFile{folder / std::string(300, 'x')}, Error);
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"out"});
}

TEST(Temporaries, GoOnASignalUnlessTheirOwnersWereFaster) {
  const test::TempFolder folder;
  const std::string file = folder.write("file", "");
  const std::string kept = folder.write("kept", "");
  fs::create_directories(folder / "tree/below");
  folder.write("tree/a", "");
  folder.write("tree/below/b", "");
  for (const std::string& path : {file, kept, folder / "tree"}) note_temporary(path.c_str());
  forget_temporary(kept.c_str());
  remove_temporaries();
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"kept"});
}

}  // namespace
}  // namespace saccade
