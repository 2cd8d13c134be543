#include "base/file_registry.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "support/temp_folder.hpp"

// Files stay protected until a process ends: each test runs in a process of its own.
namespace saccade {
namespace {

template <typename Action>
bool is_refused(const Action& action) {
  try {
    action();
    return false;
  } catch (const Error& error) {
    return error.code() == ErrorCode::kConflict;
  }
}

/// Whether ACTION returns true in a process that protects its files.
template <typename Action>
void expect_protected(const Action& action) {
  EXPECT_EXIT(
      {
        protect_files();
        std::_Exit(action() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(FileRegistry, KeepsApartWhatIsReadAndWritten) {
  const test::TempFolder folder;
  const std::string in = folder.write("in", "");
  const std::string out = folder / "out";
  expect_protected([&] {
    note_input(in);
    claim_output(out);
    return is_refused([&] { check_output(in); }) && is_refused([&] { claim_output(in); }) &&
           is_refused([&] { claim_output(out); }) && is_refused([&] { note_input(folder.write("out", "")); });
  });
}

TEST(FileRegistry, ForgetsWhatIsNoLongerThere) {
  const test::TempFolder folder;
  expect_protected([&] {
    // A new file may reuse a deleted one's inode: with most file systems the second does.
    for (int i = 0; i < 100; ++i) {
      const std::string in = folder.write("in" + std::to_string(i), "");
      note_input(in);
      std::filesystem::remove(in);
      const std::string out = folder.write("out" + std::to_string(i), "");
      if (is_refused([&] { claim_output(out); })) return false;
      std::filesystem::remove(out);
    }
    return true;
  });
}

TEST(FileRegistry, LetsAProgramDoAsItLikes) {
  const test::TempFolder folder;
  const std::string path = folder.write("path", "");
  note_input(path);
  EXPECT_NO_THROW(claim_output(path));
  EXPECT_NO_THROW(claim_output(path));
}

}  // namespace
}  // namespace saccade
