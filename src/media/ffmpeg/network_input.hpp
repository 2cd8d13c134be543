#pragma once

#include "ffmpeg/input.hpp"
#include "ffmpeg/interrupt.hpp"
#include "media/network/retry_schedule.hpp"
#include "media/network/uri.hpp"

namespace saccade {

/// How much of a stream is read before its first frame.
enum class Inspection {
  kWhole,  ///< until its size and rate are known
  kShort,  ///< until its codec is known: a stream that is opened again must be back soon
};

/// The protocols that FFmpeg may use for STREAM, which has a scheme of network streams: its whitelist.
const char* allowed_protocols(const network::StreamUri& stream);

/// Opens STREAM with what its scheme needs, and nothing else: neither files nor other protocols, whatever a playlist or
/// a redirection names. Only its video is received. INTERRUPT is set to PATIENCE, how long the server may take; TAKEN
/// is how long it has taken. Throws Error naming the stream, without passwords, and what to do: kNotFound or kIo
/// (unreachable), kDevice (the login is refused), kInvalidFile (no video in it), kUnsupported.
VideoInput open_network_input(const network::StreamUri& stream, Interrupt& interrupt, Inspection inspection,
                              const network::OpeningTimes& patience, network::OpeningTimes& taken);

/// Whether the server has a beginning and an end of it, or offers it ahead of time in segments (HLS): it is then
/// received at its own rate, which the server does not set.
bool is_offered_ahead(const AVFormatContext& input);
/// Whether it has an end.
bool is_finite(const AVFormatContext& input);
/// Whether its packets have times of their own: FFmpeg numbers the images of MJPEG over HTTP at 25 per second.
bool has_times(const AVFormatContext& input);

}  // namespace saccade
