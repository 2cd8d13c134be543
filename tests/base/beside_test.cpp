#include "base/beside.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

class BesideAFile : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "models/sub");
    fs::create_directory(folder_ / "store");
    folder_.write("models/weights", "w");
    folder_.write("store/blob", "b");
    folder_.write("secret", "s");
    fs::create_symlink("../secret", folder_ / "models/out");
    fs::create_symlink("../store/blob", folder_ / "models/link.onnx");
    fs::create_symlink("../store/blob", folder_ / "models/stored");
    fs::create_symlink("circle", folder_ / "models/circle");
  }
  bool finds(const std::string& file, const std::string& name) const {
    return Beside(folder_ / file).find(name).has_value();
  }

  test::TempFolder folder_;
};

TEST_F(BesideAFile, IsWhatLiesInItsFolder) {
  EXPECT_EQ(Beside(folder_ / "models/m.onnx").find("weights"), fs::path(folder_ / "models/weights"));
  EXPECT_TRUE(finds("models/m.onnx", "sub/weights")) << "that need not be there";
  EXPECT_TRUE(finds("models/link.onnx", "stored")) << "in the folder that the file's link leads to";
}

TEST_F(BesideAFile, IsNothingElse) {
  for (const std::string name : {"../secret", "sub/../../secret", "out", "stored", "/etc/passwd"})
    EXPECT_FALSE(finds("models/m.onnx", name)) << name;
  EXPECT_FALSE(finds("models/m.onnx", std::string("weights\0.txt", 12)));
  EXPECT_THROW(finds("models/m.onnx", "circle"), Error);
}

}  // namespace
}  // namespace saccade
