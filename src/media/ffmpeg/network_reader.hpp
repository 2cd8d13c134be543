#pragma once

#include "media/frame_reader.hpp"

namespace saccade {

/// Opens the network stream URI (is_network()): a live source that is received on a thread of its own, and opened again
/// whenever it fails: read() returns kTimeout with a message meanwhile. A decoder that is more than a second behind
/// goes on at a key frame; the frames between are kBehind. A stream that has an end ends. Throws Error naming the
/// stream, without passwords, unless ReaderOptions::wait is set: it is away at first then, of unknown size and rate.
std::unique_ptr<FrameReader> open_network(const std::string& uri, const ReaderOptions& options);

}  // namespace saccade
