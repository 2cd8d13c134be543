#include "measure/peers/peer.hpp"

#include <gtest/gtest.h>

#include "saccade/error.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A peer simulated by a shell script.
class PeerProtocol : public testing::Test {
 protected:
  Peer play(const std::string& script, milliseconds patience = seconds(30)) {
    return {"actor", {"/bin/sh", "-c", script}, folder_ / "", {patience, patience, patience}};
  }

  /// The error's message.
  template <typename Work>
  std::string complaint(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }

  test::TempFolder folder_;
};

const std::string kGreeting = R"(echo '{"version": "1.2"}'; )";

TEST_F(PeerProtocol, TimesBlocks) {
  Peer peer = play(kGreeting + R"(read line; echo '{"ns": [10, 20, 30], "wall_ns": 70}'; read line)");
  EXPECT_EQ(peer.version(), "1.2");
  const Block block = peer.run(1, 3);
  ASSERT_EQ(block.latencies.size(), 3U);
  EXPECT_EQ(block.latencies[2].count(), 30);
  EXPECT_EQ(block.wall.count(), 70);
}

TEST_F(PeerProtocol, OneThatDiesIsNamedWithItsLastWords) {
  Peer peer = play(kGreeting + "read line; echo 'out of wits' >&2; exit 4");
  const std::string said = complaint([&] { peer.run(0, 1); });
  EXPECT_NE(said.find("actor"), std::string::npos) << said;
  EXPECT_NE(said.find("out of wits"), std::string::npos) << said;
}

TEST_F(PeerProtocol, OneThatIsDeadAlreadyRaisesNoSignal) {
  Peer peer = play(kGreeting + "exit 0");
  EXPECT_NE(complaint([&] { peer.load({.model = "m.onnx"}); }).find("actor: it ended"), std::string::npos);
}

TEST_F(PeerProtocol, NamesThatAreNotUtf8AreRefused) {
  Peer peer = play(kGreeting + "read line; echo '{}'; read line");
  EXPECT_NE(complaint([&] { peer.load({.model = "m\xFF.onnx"}); }).find("is not UTF-8"), std::string::npos);
}

TEST_F(PeerProtocol, NonsenseIsShown) {
  Peer peer = play(kGreeting + "read line; echo 'Segmentation violation'; read line");
  EXPECT_NE(complaint([&] { peer.run(0, 1); }).find("'Segmentation violation'"), std::string::npos);
}

TEST_F(PeerProtocol, OneThatHangsIsGivenUp) {
  Peer peer = play(kGreeting + "read line; exec sleep 600", milliseconds(300));
  EXPECT_NE(complaint([&] { peer.run(0, 1); }).find("did not respond within 0.3 s"), std::string::npos);
}

TEST_F(PeerProtocol, InvalidResponsesAreRefused) {
  Peer peer = play(kGreeting + R"(read l; echo '{"ns": [1], "wall_ns": 1}'; read l; echo '{"ns": "no"}'; read l;
      echo '{"error": "no such operator"}'; read l)");
  EXPECT_NE(complaint([&] { peer.run(0, 2); }).find("timed 1 runs instead of 2"), std::string::npos);
  EXPECT_NE(complaint([&] { peer.run(0, 2); }).find("named no times"), std::string::npos);
  EXPECT_EQ(complaint([&] { peer.run(0, 2); }), "actor: no such operator");
}

TEST_F(PeerProtocol, WhatIsMissingCanBeInstalled) {
  for (const std::string& said :
       {complaint([&] { play(R"(echo '{"missing": "No module named onnxruntime"}'; read line)"); }),
        complaint([&] { Peer("onnxruntime", folder_ / "no-python", folder_ / ""); })})
    EXPECT_NE(said.find("script/bootstrap --peers"), std::string::npos) << said;
}

}  // namespace
}  // namespace saccade
