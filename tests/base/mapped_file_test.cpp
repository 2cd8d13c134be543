#include "base/mapped_file.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

TEST(MappedFile, HasTheBytesOfTheFile) {
  const test::TempFolder folder;
  std::string contents(100'000, 'a');
  contents.back() = 'z';
  const MappedFile file(folder.write("file", contents));
  EXPECT_EQ(file.bytes(), contents);
  file.release_pages();
  EXPECT_EQ(file.bytes(), contents);
  EXPECT_TRUE(MappedFile(folder.write("empty", "")).bytes().empty());
}

TEST(MappedFile, KeepsTheBytesOfAFileThatIsReplaced) {
  const test::TempFolder folder;
  const MappedFile file(folder.write("file", "first"));
  std::filesystem::rename(folder.write("other", "second"), folder / "file");
  EXPECT_EQ(file.bytes(), "first");
  std::filesystem::remove(folder / "file");
  EXPECT_EQ(file.bytes(), "first");
}

TEST(MappedFile, NamesWhatCannotBeMapped) {
  const test::TempFolder folder;
  for (const std::string& path : {folder / "missing", folder.string(), std::string("/dev/zero")}) try {
      const MappedFile file(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(path), std::string_view::npos) << error.what();
    }
}

}  // namespace
}  // namespace saccade
