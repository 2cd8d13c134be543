#include <sys/stat.h>

#include <fmt/format.h>

#include "import.hpp"
#include "support/ordinary_user.hpp"

namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::Model;

class FailureTest : public ImportTest {
 protected:
  std::string error_of_contents(const std::string& contents) const {
    write("m.onnx", contents);
    return error_of(file("m.onnx"));
  }
};

Model identity() {
  Model model(13);
  model.input("x", {2}).node({.op = "Identity", .inputs = {"x"}, .outputs = {"y"}, .name = "copy"}).output("y");
  return model;
}

TEST_F(FailureTest, FilesThatAreNoModels) {
  EXPECT_EQ(error_of(file("missing.onnx")), "missing.onnx: no such file");
  EXPECT_EQ(error_of(file(".")), ".: is a folder; name the .onnx file in it");
  EXPECT_EQ(error_of_contents(""), "m.onnx: is empty; export or download the model again");
  EXPECT_EQ(error_of_contents("model = torch.load('yolo.pt')\n"),
            "m.onnx: is a text file, not an ONNX file; export the model with torch.onnx.export");
  EXPECT_EQ(error_of_contents("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n"),
            "m.onnx: is a Git LFS pointer; fetch the file itself: git lfs pull");
  EXPECT_EQ(error_of_contents(std::string("PK\x03\x04\x00\x00\x08\x08", 8)),
            "m.onnx: is a zip archive (a PyTorch checkpoint?), not an ONNX file; export it with torch.onnx.export");
  EXPECT_EQ(error_of_contents(std::string("\x89PNG\r\n\x1a\n\x00\x00", 10)),
            "m.onnx: is not an ONNX file; export the model with torch.onnx.export");
}

TEST_F(FailureTest, FilesThatCannotBeRead) {
  write("m.onnx", "x");
  std::filesystem::permissions(file("m.onnx"), std::filesystem::perms::none);

  const std::string error = [&] {
    const test::OrdinaryUser user;
    return error_of(file("m.onnx"));
  }();
  EXPECT_EQ(error, "m.onnx: can't be opened: Permission denied");
}

TEST_F(FailureTest, PipesAreNoFiles) {
  ASSERT_EQ(mkfifo(file("pipe.onnx").c_str(), 0600), 0);

  EXPECT_EQ(error_of(file("pipe.onnx")), "pipe.onnx: is not a regular file");
}

TEST_F(FailureTest, FilesOfMoreThanTwoGigabytes) {
  write("m.onnx", "");
  std::filesystem::resize_file(file("m.onnx"), std::uintmax_t{3} << 30);  // sparse: takes no space

  EXPECT_EQ(error_of(file("m.onnx")),
            "m.onnx: has 3221225472 bytes, but an ONNX file is limited to 2 GiB; save it with external weights: "
            "onnx.save(model, FILE, save_as_external_data=True)");
}

TEST_F(FailureTest, EveryTruncationIsAnError) {
  const std::string whole = Model(identity()).metadata("names", "{0: 'person'}").bytes();
  ASSERT_EQ(error_of_contents(whole), "");

  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(error_of_contents(whole.substr(0, size)), "") << size;
  EXPECT_EQ(error_of_contents(whole.substr(0, whole.size() - 1)),
            "m.onnx: is a damaged or truncated ONNX file; export or download it again");
}

TEST_F(FailureTest, EveryFlippedByteIsReadOrRefused) {
  const std::string whole = Model(identity()).initializer(onnx_writer::tensor<float>("w", {1, 2}, {1, 2})).bytes();

  // Some flips only change a name or a number; the others must yield errors, not crashes.
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char mask : {'\x01', '\x08', '\x40', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      refused += error_of_contents(damaged).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, whole.size());
}

TEST_F(FailureTest, OtherProtobufs) {
  EXPECT_EQ(error_of_contents(onnx_writer::Message().integer(1, 8).text(2, "producer").bytes()),
            "m.onnx: is a damaged or truncated ONNX file; export or download it again");
  EXPECT_EQ(error_of_contents(onnx_writer::Message().integer(1, 8).text(7, "").bytes()),
            "m.onnx: names no operator set: it is damaged or truncated; export or download it again");
}

TEST_F(FailureTest, VersionsThatAreTooOld) {
  EXPECT_EQ(error_of(Model(13, 2).input("x", {1}).output("x")),
            "model.onnx: is of ONNX IR version 2, and Saccade reads 3 and newer; export the model again");
  Model model(6);
  model.input("x", {2}).node({.op = "Add", .inputs = {"x", "x"}, .outputs = {"y"}, .name = "sum"}).output("y");
  EXPECT_EQ(error_of(model),
            "model.onnx: node 'sum' (Add): operator set 6 is older than 7, the oldest that is supported; export the "
            "model again or convert it: onnx.version_converter.convert_version(model, 17)");
}

TEST_F(FailureTest, OldOperatorsThatNeverChangedAreRead) {
  const auto unary = [&](std::int64_t opset, const std::string& op) {
    Model model(opset);
    return error_of(model.input("x", {2}).node({.op = op, .inputs = {"x"}, .outputs = {"y"}}).output("y"));
  };
  EXPECT_EQ(unary(1, "Identity"), "");
  EXPECT_EQ(unary(6, "Relu"), "");
  EXPECT_NE(unary(5, "Relu"), "");
}

TEST_F(FailureTest, OneErrorListsEveryUnsupportedOperator) {
  Model model = identity();
  model.node({.op = "Foo", .inputs = {"x"}, .outputs = {"a"}, .name = "n1"});
  model.node({.op = "Foo", .inputs = {"a"}, .outputs = {"b"}, .name = "n2"});
  model.node({.op = "Bar", .inputs = {"b"}, .outputs = {"c"}, .name = "n3", .domain = "com.example"});
  model.node({.op = "Scan",
              .inputs = {"c"},
              .outputs = {"d"},
              .attributes = {onnx_writer::graph_attribute("body", onnx_writer::Message())},
              .name = "n4"});

  EXPECT_EQ(error_of(model),
            "model.onnx: 3 operators are not supported: Foo (2 nodes, e.g. 'n1'), Scan (1 node, e.g. 'n4'), "
            "com.example.Bar (1 node, e.g. 'n3')");
}

TEST_F(FailureTest, AnOperatorOfANewerSetIsReported) {
  Model model(99);
  model.input("x", {2}).node({.op = "New", .inputs = {"x"}, .outputs = {"y"}, .name = "n"}).output("y");

  EXPECT_EQ(error_of(model),
            "model.onnx: 1 operator is not supported: New (1 node, e.g. 'n'); the model uses operator set 99, and "
            "Saccade knows up to 28: export it with an older one");
}

TEST_F(FailureTest, OperatorsOfOurOwnAreNoFiles) {
  const onnx_writer::Node own{
      .op = "Choose", .inputs = {"x", "x", "x"}, .outputs = {"y"}, .name = "own", .domain = "saccade"};
  const std::string why = "1 operator is not supported: saccade.Choose (1 node, e.g. '";

  Model plain(13);
  plain.opset("saccade", 1).input("x", {2}).output("y").node(own);
  EXPECT_EQ(error_of(plain), "model.onnx: " + why + "own')");

  Model branch(13);
  branch.node(own).output("y");
  Model model(13);
  model.opset("saccade", 1).input("x", {2}).input("c", {}, onnx_writer::kBool).output("z");
  model.node({.op = "If",
              .inputs = {"c"},
              .outputs = {"z"},
              .attributes = {onnx_writer::graph_attribute("then_branch", branch.graph()),
                             onnx_writer::graph_attribute("else_branch", branch.graph())},
              .name = "if"});
  EXPECT_NE(error_of(model).find("saccade.Choose (2 nodes"), std::string::npos) << error_of(model);

  Model called(13);
  called.opset("ours", 1).input("x", {2}).output("y");
  called.function({.domain = "ours",
                   .name = "Hide",
                   .inputs = {"x"},
                   .outputs = {"y"},
                   .nodes = {own},
                   .attributes = {},
                   .defaults = {},
                   .opsets = {{"", 13}, {"saccade", 1}},
                   .overload = {}});
  called.node({.op = "Hide", .inputs = {"x"}, .outputs = {"y"}, .name = "call", .domain = "ours"});
  EXPECT_NE(error_of(called).find(why), std::string::npos) << error_of(called);
}

TEST_F(FailureTest, ANewerOperatorSetIsTried) {
  Model model(99);
  model.input("x", {2}).node({.op = "Identity", .inputs = {"x"}, .outputs = {"y"}}).output("y");

  EXPECT_EQ(error_of(model), "");
}

TEST_F(FailureTest, NamesThatAreDefinedTwice) {
  EXPECT_EQ(error_of(identity().node({.op = "Identity", .inputs = {"x"}, .outputs = {"y"}, .name = "again"})),
            "model.onnx: node 'again' (Identity): the value 'y' is defined twice");
  EXPECT_EQ(error_of(identity().node({.op = "Identity", .inputs = {"y"}, .outputs = {"x"}, .name = "again"})),
            "model.onnx: node 'again' (Identity): the value 'x' is defined twice");
  EXPECT_EQ(error_of(identity().initializer(onnx_writer::tensor<float>("y", {1}, {1}))),
            "model.onnx: the value 'y' is defined twice");
  EXPECT_EQ(error_of(identity().input("x", {3})), "model.onnx: the value 'x' is defined twice");
  EXPECT_EQ(error_of(identity().output("y")), "model.onnx: the output 'y' is listed twice");
}

TEST_F(FailureTest, ValuesThatNothingMakes) {
  EXPECT_EQ(error_of(identity().node({.op = "Identity", .inputs = {"ghost"}, .outputs = {"z"}, .name = "reader"})),
            "model.onnx: node 'reader' (Identity) reads 'ghost', which no node produces");
  EXPECT_EQ(error_of(identity().output("z")), "model.onnx: no node produces the output 'z'");
  EXPECT_EQ(error_of(Model(13).input("x", {1})), "model.onnx: the graph has no output");
  EXPECT_EQ(error_of(identity().output("")), "model.onnx: an output has no name");
  EXPECT_EQ(error_of(identity().input("", {1})), "model.onnx: an input has no name");
}

TEST_F(FailureTest, Cycles) {
  Model model(13);
  model.input("x", {2}).output("a");
  model.node({.op = "Identity", .inputs = {"b"}, .outputs = {"a"}, .name = "first"});
  model.node({.op = "Identity", .inputs = {"a"}, .outputs = {"b"}, .name = "second"});

  EXPECT_EQ(error_of(model), "model.onnx: node 'second' (Identity) depends on its own output");
}

TEST_F(FailureTest, NodesWithoutTheInputsOrOutputsOfTheirOperator) {
  const auto error = [&](const onnx_writer::Node& node) { return error_of(identity().node(node)); };

  EXPECT_EQ(error({.op = "Identity", .inputs = {}, .outputs = {"z"}, .name = "n"}),
            "model.onnx: node 'n' (Identity): input 0 is missing");
  EXPECT_EQ(error({.op = "Dropout", .inputs = {}, .outputs = {"z"}, .name = "n"}),
            "model.onnx: node 'n' (Dropout): input 0 is missing");
  EXPECT_EQ(error({.op = "Unsqueeze", .inputs = {"x"}, .outputs = {"z"}, .name = "n"}),
            "model.onnx: node 'n' (Unsqueeze): input 1 is missing");
  EXPECT_EQ(error({.op = "Identity", .inputs = {"x"}, .outputs = {}, .name = "n"}),
            "model.onnx: node 'n' (Identity): it has no output");
  EXPECT_EQ(error({.op = "Identity", .inputs = {"x"}, .outputs = {"z", "more"}, .name = "n"}),
            "model.onnx: node 'n' (Identity): the operator has no output 1");
  EXPECT_EQ(error({.op = "Constant", .inputs = {}, .outputs = {}, .name = "n"}),
            "model.onnx: node 'n' (Constant): a Constant has one output");
}

TEST_F(FailureTest, NodesWithMoreInputsThanTheirOperatorTakes) {
  const auto error = [&](const std::string& op, const std::vector<std::string>& inputs) {
    return error_of(identity().node({.op = op, .inputs = inputs, .outputs = {"z"}, .name = "n"}));
  };
  EXPECT_EQ(error("Relu", {"x", "x"}), "model.onnx: node 'n' (Relu): it has 2 inputs; the operator takes 1 at most");
  EXPECT_EQ(error("Add", {"x", "x", "x"}), "model.onnx: node 'n' (Add): it has 3 inputs; the operator takes 2 at most");
}

TEST_F(FailureTest, TrainingWithoutTheStatisticsThatItMoves) {
  Model model(8);
  model.input("x", {2, 3, 4, 5}).input("s", {3}).output("y").output("mean").output("variance");
  model.node({.op = "BatchNormalization",
              .inputs = {"x", "s", "s", "s"},
              .outputs = {"y", "mean", "variance"},
              .attributes = {attribute("training_mode", 1)},
              .name = "norm"});

  EXPECT_EQ(error_of(model), "model.onnx: node 'norm' (BatchNormalization): input 4 is missing");
}

TEST_F(FailureTest, ADropoutWithAnEmptyMode) {
  Model model(13);
  model.input("x", {2}).output("y").initializer(onnx_writer::raw_tensor("mode", onnx_writer::kBool, {0}, ""));
  model.node({.op = "Dropout", .inputs = {"x", "", "mode"}, .outputs = {"y"}, .name = "drop"});

  EXPECT_EQ(error_of(model), "model.onnx: node 'drop' (Dropout): its training_mode has shape 0, not a scalar's");
}

TEST_F(FailureTest, AttributesOfTheWrongKind) {
  EXPECT_EQ(error_of(identity().node({.op = "Flatten",
                                      .inputs = {"x"},
                                      .outputs = {"z"},
                                      .attributes = {attribute("axis", "one")},
                                      .name = "flat"})),
            "model.onnx: node 'flat' (Flatten): attribute 'axis' has the wrong type (its value is 'one')");
  EXPECT_EQ(error_of(identity().node({.op = "Flatten",
                                      .inputs = {"x"},
                                      .outputs = {"z"},
                                      .attributes = {attribute("axis", 0), attribute("axis", 1)},
                                      .name = "flat"})),
            "model.onnx: node 'flat' (Flatten): attribute 'axis': it is given twice");
  EXPECT_EQ(error_of(identity().node({.op = "Flatten",
                                      .inputs = {"x"},
                                      .outputs = {"z"},
                                      .attributes = {onnx_writer::graph_attribute("body", onnx_writer::Message())},
                                      .name = "flat"})),
            "model.onnx: node 'flat' (Flatten): attribute 'body': it is a sub-graph, which is not supported");
  EXPECT_EQ(error_of(identity().node(
                {.op = "Constant", .inputs = {}, .outputs = {"c"}, .attributes = {attribute("axis", 0)}, .name = "c"})),
            "model.onnx: node 'c' (Constant): a Constant can't have its value in the attribute 'axis'");
}

TEST_F(FailureTest, InputsThatAreNoTensors) {
  const auto sequence = onnx_writer::Message().message(4, onnx_writer::Message());  // TypeProto.sequence_type
  EXPECT_EQ(error_of(identity().input(onnx_writer::Message().text(1, "s").message(2, sequence))),
            "model.onnx: input 's': it is not a tensor; only tensors are supported");
  EXPECT_EQ(error_of(identity().input(onnx_writer::Message().text(1, "s"))),
            "model.onnx: input 's': it is not a tensor; only tensors are supported");
  EXPECT_EQ(error_of(identity().input("s", {2}, 99)), "model.onnx: input 's': ONNX's element type 99 is not supported");
}

TEST_F(FailureTest, InputsTooLargeForAnyMemory) {
  constexpr int kBillion = 1'000'000'000;
  EXPECT_EQ(error_of(identity().input("s", {kBillion, kBillion})),
            "model.onnx: input 's': a tensor of shape 1000000000x1000000000 is too large");
}

TEST_F(FailureTest, ShapesOfHugeTensorsAreWorkedOutWithoutThem) {
  Model model(13);
  model.input("x", {1 << 20, 1 << 20}).input("y", {1 << 10, 1 << 10, 1 << 20}).output("z");
  model.node({.op = "Shape", .inputs = {"x"}, .outputs = {"s"}, .name = "shape"});
  model.node({.op = "Reshape", .inputs = {"y", "s"}, .outputs = {"z"}, .name = "n"});

  EXPECT_EQ(error_of(model), "");
}

TEST_F(FailureTest, ShapesThatWouldTakeTerabytesAreNotWorkedOut) {
  Model model(13);
  model.input("x", {2}).output("y");
  model.initializer(onnx_writer::tensor<std::int64_t>("size", {1}, {std::int64_t{1} << 40}));
  model.node({.op = "ConstantOfShape", .inputs = {"size"}, .outputs = {"zeros"}, .name = "zeros"});
  model.node({.op = "Cast", .inputs = {"zeros"}, .outputs = {"s"}, .attributes = {attribute("to", 7)}, .name = "cast"});
  model.node({.op = "Reshape", .inputs = {"x", "s"}, .outputs = {"y"}, .name = "n"});

  EXPECT_NE(error_of(model), "");
}

TEST_F(FailureTest, ChainsOfAnyDepth) {
  Model model(13);
  model.input("x", {2}).output("y").initializer(onnx_writer::tensor<std::int64_t>("s0", {1}, {2}));
  constexpr int kDepth = 50'000;
  for (int i = 0; i < kDepth; ++i)
    model.node({.op = "Identity", .inputs = {fmt::format("s{}", i)}, .outputs = {fmt::format("s{}", i + 1)}});
  model.node({.op = "Reshape", .inputs = {"x", fmt::format("s{}", kDepth)}, .outputs = {"y"}, .name = "n"});

  EXPECT_EQ(
      error_of(model),
      "model.onnx: node 'n' (Reshape): Reshape's target shape (input 1) depends on the model's inputs; it must be a "
      "constant");
}

TEST_F(FailureTest, ProductsThatWouldTakeDaysAreNotWorkedOut) {
  Model model(13);
  model.input("x", {2}).output("y").initializer(onnx_writer::tensor<std::int64_t>("size", {1}, {1 << 20}));
  const auto one = onnx_writer::tensor<std::int64_t>("one", {1}, {1});
  model.initializer(one);
  model.node({.op = "ConstantOfShape",
              .inputs = {"size"},
              .outputs = {"ones"},
              .attributes = {attribute("value", one)},
              .name = "ones"});
  model.node({.op = "Einsum",
              .inputs = {"ones", "ones", "ones", "one"},
              .outputs = {"sum"},
              .attributes = {attribute("equation", "i,j,k,a->a")},
              .name = "sum"});
  model.node({.op = "Reshape", .inputs = {"x", "sum"}, .outputs = {"y"}, .name = "n"});

  EXPECT_NE(error_of(model).find("depends on the model's inputs"), std::string::npos) << error_of(model);
}

TEST_F(FailureTest, AnyNumberOfNodesMayHaveOneName) {
  Model model(13);
  constexpr int kNodes = 20'000;
  model.input("v0", {2}).output(fmt::format("v{}", kNodes));
  for (int i = 0; i < kNodes; ++i)
    model.node({.op = "Relu", .inputs = {fmt::format("v{}", i)}, .outputs = {fmt::format("v{}", i + 1)}, .name = "n"});

  const Graph graph = import(model);

  EXPECT_EQ(graph.node(graph.order()[0]).name, "n");
  EXPECT_EQ(graph.node(graph.order()[1]).name, "n_2");
  EXPECT_EQ(graph.node(graph.order()[kNodes - 1]).name, fmt::format("n_{}", kNodes));
}

TEST_F(FailureTest, NamesThatLookNumberedStayUnique) {
  Model model(13);
  model.input("x", {2}).output("d");
  model.node({.op = "Relu", .inputs = {"x"}, .outputs = {"a"}, .name = "n_2"});
  model.node({.op = "Relu", .inputs = {"a"}, .outputs = {"b"}, .name = "n"});
  model.node({.op = "Relu", .inputs = {"b"}, .outputs = {"c"}, .name = "n"});
  model.node({.op = "Relu", .inputs = {"c"}, .outputs = {"d"}, .name = "n_3"});

  const Graph graph = import(model);

  std::vector<std::string> names;
  for (NodeId id : graph.order()) names.push_back(graph.node(id).name);
  EXPECT_EQ(names, (std::vector<std::string>{"n_2", "n", "n_3", "n_3_2"}));
}

TEST_F(FailureTest, GraphsOfFarTooManyNodesOrEdges) {
  Model nodes(13);
  nodes.input("v0", {2}).output("v1");
  for (int i = 0; i < 200'001; ++i)
    nodes.node({.op = "Relu", .inputs = {fmt::format("v{}", i)}, .outputs = {fmt::format("v{}", i + 1)}});
  EXPECT_EQ(error_of(nodes), "model.onnx: node 'v200001' (Relu): models of more than 200000 nodes are not supported");

  Model readers(13);
  readers.input("x", {2}).output("v0");
  for (int i = 0; i < 65'537; ++i) readers.node({.op = "Relu", .inputs = {"x"}, .outputs = {fmt::format("v{}", i)}});
  EXPECT_EQ(error_of(readers),
            "model.onnx: node 'v65536' (Relu): 'x' is read more than 65536 times, which is not supported");

  Model outputs(13);
  outputs.input("x", {2});
  for (int i = 0; i < 5000; ++i) outputs.output("x");
  EXPECT_EQ(error_of(outputs), "model.onnx: graphs of more than 4096 inputs or outputs are not supported");
}

TEST_F(FailureTest, AShapeMismatchNamesTheDimensionsThatWereNotGiven) {
  Model model(13);
  model.input("x", {1, 3, "height", "width"}).output("y");
  model.initializer(onnx_writer::tensor<std::int64_t>("shape", {2}, {3, 640}));
  model.node({.op = "Reshape", .inputs = {"x", "shape"}, .outputs = {"y"}, .name = "rows"});

  EXPECT_EQ(error_of(model),
            "model.onnx: node 'rows' (Reshape): Reshape can't turn 1x3x1x1 into 3x640 (dynamic dimensions of the input "
            "'x', [1, 3, height, width], were set to 1; give them: --shape x=...)");
}

TEST_F(FailureTest, InitializersDoNotRaiseTheInputLimit) {
  Model model = identity();
  for (int i = 0; i < 5000; ++i) {
    model.input(fmt::format("i{}", i), {1});
    model.initializer(onnx_writer::tensor<float>(fmt::format("w{}", i), {1}, {1}));
  }
  EXPECT_EQ(error_of(model), "model.onnx: graphs of more than 4096 inputs or outputs are not supported");

  Model listed = identity();
  for (int i = 0; i < 5000; ++i) {
    listed.input(fmt::format("w{}", i), {1});
    listed.initializer(onnx_writer::tensor<float>(fmt::format("w{}", i), {1}, {1}));
  }
  EXPECT_EQ(error_of(listed), "");
}

TEST_F(FailureTest, AFirstOutputWithoutANameIsMadeAllTheSame) {
  Model model(13);
  model.input("x", {4}).output("places").initializer(onnx_writer::tensor<std::int64_t>("k", {1}, {2}));
  model.node({.op = "TopK", .inputs = {"x", "k"}, .outputs = {"", "places"}, .name = "best"});

  const Graph graph = import(model);

  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, Shape{2});
  EXPECT_EQ(error_of(identity().node({.op = "Relu", .inputs = {"x"}, .outputs = {""}, .name = "n"})), "");
}

TEST_F(FailureTest, WindowsWhoseTablesWouldFillTheMemory) {
  constexpr int kWide = 1 << 20;
  Model model(13);
  model.input("x", {1, 1, kWide}).output("y");
  model.node({.op = "MaxPool",
              .inputs = {"x"},
              .outputs = {"y"},
              .attributes = {attribute("kernel_shape", onnx_writer::Dims{1001}),
                             attribute("pads", onnx_writer::Dims{500, 500})},
              .name = "pool"});

  EXPECT_EQ(error_of(model),
            "model.onnx: node 'pool' (MaxPool): a kernel of 1001 at 1048576 places along one axis is not supported");
}

TEST_F(FailureTest, SortingForAShapeIsBoundedInSum) {
  Model model(13);
  model.input("x", {2}).output("y").initializer(onnx_writer::tensor<std::int64_t>("size", {1}, {1 << 20}));
  model.node({.op = "ConstantOfShape", .inputs = {"size"}, .outputs = {"zeros"}, .name = "zeros"});
  for (int i = 0; i < 100; ++i)
    model.node(
        {.op = "Unique", .inputs = {"zeros"}, .outputs = {fmt::format("u{}", i)}, .name = fmt::format("u{}", i)});
  model.node({.op = "Relu", .inputs = {"x"}, .outputs = {"y"}});

  const std::string error = error_of(model);
  EXPECT_TRUE(error.starts_with("model.onnx: node 'u1")) << error;
  EXPECT_TRUE(error.ends_with("(Unique): 1048576 are too many to sort when the graph is built")) << error;
}

}  // namespace
}  // namespace saccade
