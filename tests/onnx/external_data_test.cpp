#include <sys/stat.h>

#include "import.hpp"

namespace saccade {
namespace {

using onnx_writer::Model;

class ExternalDataTest : public ImportTest {
 protected:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  /// A model with weights [2] whose location is ENTRIES.
  static Model model_with(const Entries& entries) {
    return Model(13).initializer(onnx_writer::external_tensor("w", onnx_writer::kUInt8, {2}, entries)).output("w");
  }
  std::vector<std::uint8_t> read(const Entries& entries) const {
    const Graph graph = import(model_with(entries));
    const auto elements = graph.constant(graph.outputs()[0])->data<std::uint8_t>();
    return {elements.begin(), elements.end()};
  }
};

TEST_F(ExternalDataTest, ReadsAFileBesideTheModel) {
  write("weights.bin", "abcdef");
  std::filesystem::create_directory(file("sub"));
  write("sub/w", "xy");

  EXPECT_EQ(read({{"location", "weights.bin"}}), (std::vector<std::uint8_t>{'a', 'b'}));
  EXPECT_EQ(read({{"location", "weights.bin"}, {"offset", "4"}, {"length", "2"}}),
            (std::vector<std::uint8_t>{'e', 'f'}));
  EXPECT_EQ(read({{"location", "sub/w"}}), (std::vector<std::uint8_t>{'x', 'y'}));
}

TEST_F(ExternalDataTest, NamesTheFilesOfAllTensors) {
  const auto at = [](const std::string& name, const std::string& location) {
    return onnx_writer::external_tensor(name, onnx_writer::kUInt8, {2}, {{"location", location}});
  };
  Model model(13);
  model.initializer(at("w", "a.bin")).initializer(at("v", "a.bin")).initializer(at("u", "b.bin")).output("y");
  model.initializer(onnx_writer::tensor<float>("inside", {1}, {1}));
  model.node({.op = "Constant", .outputs = {"y"}, .attributes = {onnx_writer::attribute("value", at("y", "sub/c"))}});
  model.save(file("model.onnx"));
  EXPECT_EQ(module<OnnxModule>("onnx").data_files(file("model.onnx"), 0),
            (std::vector<std::string>{file("a.bin").string(), file("b.bin").string(), file("sub/c").string()}));
  Model strange(13);
  strange.initializer(at("w", "/etc/passwd")).output("w");
  strange.save(file("strange.onnx"));
  EXPECT_THROW(module<OnnxModule>("onnx").data_files(file("strange.onnx"), 0), Error);
}

TEST_F(ExternalDataTest, RefusesPlacesOutsideTheModelsFolder) {
  EXPECT_EQ(error_of(model_with({{"location", "/etc/passwd"}})),
            "model.onnx: tensor 'w': its external data is in '/etc/passwd', outside the model's folder: refused");
  EXPECT_EQ(error_of(model_with({{"location", "sub/../../w"}})),
            "model.onnx: tensor 'w': its external data is in 'sub/../../w', outside the model's folder: refused");
  EXPECT_EQ(error_of(model_with({{"offset", "1"}})), "model.onnx: tensor 'w': its external data has no location");
}

TEST_F(ExternalDataTest, RefusesLinksThatLeadOutsideTheModelsFolder) {
  std::filesystem::create_symlink("/etc/passwd", file("w"));
  std::filesystem::create_directory_symlink("/etc", file("sub"));

  EXPECT_EQ(error_of(model_with({{"location", "w"}})),
            "model.onnx: tensor 'w': its external data is in 'w', outside the model's folder: refused");
  EXPECT_EQ(error_of(model_with({{"location", "sub/passwd"}})),
            "model.onnx: tensor 'w': its external data is in 'sub/passwd', outside the model's folder: refused");
}

TEST_F(ExternalDataTest, NamesWhatIsNotARegularFile) {
  ASSERT_EQ(mkfifo(file("w").c_str(), 0600), 0);
  std::filesystem::create_directory(file("sub"));

  EXPECT_EQ(error_of(model_with({{"location", "w"}})),
            "model.onnx: tensor 'w': its data file w is a device, FIFO or socket: give a regular file");
  EXPECT_EQ(error_of(model_with({{"location", "sub"}})),
            "model.onnx: tensor 'w': its data file sub is a folder: name a file in it");
}

TEST_F(ExternalDataTest, RefusesLinksWithoutEnd) {
  std::filesystem::create_symlink("w", file("w"));

  EXPECT_EQ(error_of(model_with({{"location", "w"}})),
            "model.onnx: tensor 'w': its data file 'w' can't be read: Too many levels of symbolic links");
}

TEST_F(ExternalDataTest, AModelWhoseNameIsGoneMayBeReadThroughItsDescriptor) {
  Model(13).input("x", {1}).output("x").save(file("model.onnx"));
  std::FILE* open = std::fopen(file("model.onnx").c_str(), "r");
  std::filesystem::remove(file("model.onnx"));

  EXPECT_EQ(import_file("/proc/self/fd/" + std::to_string(fileno(open))).inputs().size(), 1U);
  std::fclose(open);
}

TEST_F(ExternalDataTest, FollowsLinksWithinTheModelsFolder) {
  write("weights.bin", "ab");
  std::filesystem::create_symlink("weights.bin", file("w"));

  EXPECT_EQ(read({{"location", "w"}}), (std::vector<std::uint8_t>{'a', 'b'}));
}

TEST_F(ExternalDataTest, FollowsLinksToWhereTheModelsOwnLinkLeads) {
  // A model store: every name is a link to a file named by its hash.
  std::filesystem::create_directory(file("blobs"));
  std::filesystem::create_directory(file("snapshot"));
  write("blobs/2", "ab");
  model_with({{"location", "w"}}).save(file("blobs/1"));
  std::filesystem::create_symlink("../blobs/1", file("snapshot/model.onnx"));
  std::filesystem::create_symlink("../blobs/2", file("snapshot/w"));

  const Graph graph = import_file(file("snapshot/model.onnx"));

  EXPECT_EQ(graph.constant(graph.outputs()[0])->data<std::uint8_t>()[1], 'b');
}

TEST_F(ExternalDataTest, RefusesMissingAndShortFiles) {
  write("weights.bin", "abcdef");

  EXPECT_EQ(error_of(model_with({{"location", "w.bin"}})),
            "model.onnx: tensor 'w': its data file 'w.bin' is missing; put it beside the model");
  EXPECT_EQ(error_of(model_with({{"location", "."}})),
            "model.onnx: tensor 'w': its data file . is a folder: name a file in it");
  EXPECT_EQ(
      error_of(model_with({{"location", "weights.bin"}, {"offset", "5"}})),
      "model.onnx: tensor 'w': its data file 'weights.bin' is too short: 2 bytes at 5 are needed, the file has 6");
  EXPECT_EQ(error_of(model_with({{"location", "weights.bin"}, {"offset", "18446744073709551615"}})),
            "model.onnx: tensor 'w': its data file 'weights.bin' is too short: 2 bytes at 18446744073709551615 are "
            "needed, the file has 6");
  EXPECT_EQ(error_of(model_with({{"location", "weights.bin"}, {"offset", "-1"}})),
            "model.onnx: tensor 'w': its external data has the offset '-1', which is not a number");
  EXPECT_EQ(error_of(model_with({{"location", "weights.bin"}, {"length", "3"}})),
            "model.onnx: tensor 'w': it needs 2 bytes, but its external data has 3 bytes");
}

}  // namespace
}  // namespace saccade
