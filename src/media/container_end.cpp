#include "media/container_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "media/file_window.hpp"

namespace saccade {
namespace {

using namespace std::string_view_literals;

/// Limit of parts examined: hours of the finest ones. A file of nothing but tiny parts must not take forever.
constexpr int kMostParts = 20'000'000;
constexpr std::uint64_t kLongest = std::uint64_t{1} << 55;

ContainerEnd whole() { return {.is_whole = true, .cut = {}}; }

ContainerEnd missing(std::int64_t bytes, std::string_view what) {
  return {.is_whole = false, .cut = fmt::format("{} bytes of {} are missing", bytes, what)};
}

/// PART starts at PLACE, and the file ends within its header.
ContainerEnd ends_within(std::string_view part) {
  return {.is_whole = false, .cut = fmt::format("it ends within {}", part)};
}

// ---- Matroska and WebM: elements of an id, a size and contents. A size of all ones is unknown.

constexpr std::uint64_t kEbml = 0x1A45DFA3;
constexpr std::uint64_t kSegment = 0x18538067;
constexpr std::uint64_t kCluster = 0x1F43B675;
constexpr std::uint64_t kElements[] = {
    0x114D9B74, 0x1549A966, 0x1654AE6B, kCluster, 0x1C53BB6B, 0x1941A469, 0x1043A770, 0x1254C367,  // of a segment
    0xE7,       0xA3,       0xA0,       0xA7,     0xAB,       0x5854,     0xAF,                    // of a cluster
    0xEC,       0xBF};                                                                             // of anything

struct Element {
  std::uint64_t id = 0;
  std::optional<std::uint64_t> size;
  std::int64_t contents = 0;
};

/// The length of an EBML number according to its first byte; 9 if that is invalid.
int coded_length(unsigned char first) {
  int length = 1;
  while (length <= 8 && (first & (0x80U >> static_cast<unsigned>(length - 1))) == 0) ++length;
  return length;
}

/// Nothing if the file ends within the element's head; an id of 0 if there is no element.
std::optional<Element> element_at(FileWindow& file, std::int64_t at) {
  const int id_length = coded_length(static_cast<unsigned char>(file.big(at, 1)));
  if (id_length > 4) return Element{};
  if (at + id_length >= file.size()) return std::nullopt;
  const int size_length = coded_length(static_cast<unsigned char>(file.big(at + id_length, 1)));
  if (size_length > 8) return Element{};
  Element element{.id = file.big(at, id_length), .size = {}, .contents = at + id_length + size_length};
  if (element.contents > file.size()) return std::nullopt;
  const std::uint64_t ones = (std::uint64_t{1} << 7U * static_cast<unsigned>(size_length)) - 1;
  const std::uint64_t size = file.big(at + id_length, size_length) & ones;
  if (size != ones && size < kLongest) element.size = size;
  return element;
}

ContainerEnd matroska_end(FileWindow& file) {
  bool has_known_segment = false;
  std::int64_t at = 0;
  for (int i = 0; i < kMostParts && at < file.size(); ++i) {
    const std::optional<Element> element = element_at(file, at);
    if (!element) return has_known_segment ? whole() : ends_within("an element");
    const std::uint64_t id = element->id;
    const bool is_top = id == kEbml || id == kSegment;
    if (!is_top && std::find(std::begin(kElements), std::end(kElements), id) == std::end(kElements)) break;
    if (element->size) {
      const std::int64_t end = element->contents + static_cast<std::int64_t>(*element->size);
      if (end > file.size())
        return missing(end - file.size(), id == kSegment ? "its segment" : id == kCluster ? "a cluster" : "an element");
      has_known_segment = has_known_segment || id == kSegment;
      at = end;
    } else if (id == kSegment || id == kCluster) {
      at = element->contents;
    } else {
      break;
    }
  }
  return has_known_segment ? whole() : ContainerEnd{};
}

// ---- MP4 and QuickTime: boxes of a size, a type and contents.

bool is_type(std::string_view type) {
  return type.size() == 4 &&
         std::all_of(type.begin(), type.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7F; });
}

ContainerEnd mp4_end(FileWindow& file) {
  std::int64_t at = 0;
  for (int i = 0; i < kMostParts && at < file.size(); ++i) {
    if (file.size() - at < 8) return ends_within("a box");
    if (!is_type(file.at(at + 4, 4))) return {};
    std::uint64_t size = file.big(at, 4);
    if (size == 0) return {};  // extends to the end of the file
    if (size == 1) {
      if (file.size() - at < 16) return ends_within("a box");
      size = file.big(at + 8, 8);
      if (size < 16) return {};
    }
    if (size < 8 || size > kLongest) return {};
    const std::int64_t end = at + static_cast<std::int64_t>(size);
    if (end > file.size()) return missing(end - file.size(), fmt::format("its box '{}'", file.at(at + 4, 4)));
    at = end;
  }
  return at == file.size() ? whole() : ContainerEnd{};
}

// ---- AVI: chunks of a type, a size and contents; LIST and RIFF chunks contain others.

bool is_known(std::uint64_t size) { return size != 0 && size != 0xFFFFFFFF; }

ContainerEnd avi_end(FileWindow& file) {
  std::int64_t at = 0;
  std::int64_t promised = 0;
  for (int i = 0; i < kMostParts && at < file.size(); ++i) {
    const bool is_riff = file.at(at, 4) == "RIFF";
    if (file.size() - at < 8) return at < promised || promised == 0 ? ends_within("a chunk") : ContainerEnd{};
    if (!is_type(file.at(at, 4))) return {};
    const std::uint64_t size = file.little(at + 4, 4);
    const std::int64_t end = at + 8 + static_cast<std::int64_t>(size);
    if (is_riff) promised = is_known(size) ? end : 0;
    if (is_riff || (file.at(at, 4) == "LIST" && !is_known(size))) {
      at += 12;
      continue;
    }
    if (end > file.size()) return missing(end - file.size(), fmt::format("its chunk '{}'", file.at(at, 4)));
    at = end + end % 2;
  }
  // Some writers include the eight bytes of the chunk's head in the size.
  constexpr std::int64_t kHead = 8;
  if (promised > file.size() + kHead) return missing(promised - file.size(), "its RIFF chunk");
  return promised == 0 ? ContainerEnd{} : whole();
}

// ---- FLV: tags of 11 bytes and contents, each followed by its size.

ContainerEnd flv_end(FileWindow& file) {
  std::int64_t at = static_cast<std::int64_t>(file.big(5, 4)) + 4;
  for (int i = 0; i < kMostParts && at < file.size(); ++i) {
    const std::uint64_t type = file.big(at, 1) & 0x1FU;
    if (type != 8 && type != 9 && type != 18) return {};
    const std::int64_t end = at + 11 + static_cast<std::int64_t>(file.big(at + 1, 3)) + 4;
    if (end > file.size()) return ends_within("a tag");
    at = end;
  }
  return {};
}

// ---- MPEG-TS: packets of 188 bytes; on Blu-ray each has a 4-byte prefix.

ContainerEnd ts_end(FileWindow& file, std::int64_t packet, std::int64_t sync) {
  const std::int64_t rest = file.size() % packet;
  const bool is_cut = rest > sync && file.big(file.size() - rest + sync, 1) == 0x47;
  return is_cut ? ends_within("a packet") : ContainerEnd{};
}

bool is_ts(FileWindow& file, std::int64_t packet, std::int64_t sync) {
  constexpr int kPackets = 4;
  for (int i = 0; i < kPackets; ++i)
    if (file.big(sync + i * packet, 1) != 0x47) return false;
  return true;
}

// ---- YUV4MPEG2: a line with the frames' size and format, then frames of a line and samples.

/// Bytes of a frame of WIDTH x HEIGHT in FORMAT, a header's tag without its 'C'; 0 if it is unknown.
std::int64_t y4m_frame(std::int64_t width, std::int64_t height, std::string_view format) {
  struct Chroma {
    std::string_view name;  ///< prefix of the format
    std::int64_t across;    ///< luma samples per chroma sample; 0: no chroma
    std::int64_t down;
    std::int64_t planes;  ///< planes of the luma's size
  };
  static constexpr Chroma kChromas[] = {{"420", 2, 2, 1},      {"422", 2, 1, 1}, {"411", 4, 1, 1},
                                        {"444alpha", 1, 1, 2}, {"444", 1, 1, 1}, {"mono", 0, 0, 1}};
  for (const Chroma& chroma : kChromas) {
    if (!format.starts_with(chroma.name)) continue;
    std::string_view depth = format.substr(chroma.name.size());
    if (depth.starts_with("paldv") || depth.starts_with("mpeg2") || depth.starts_with("jpeg")) depth = {};
    if (depth.starts_with("p")) depth.remove_prefix(1);
    if (!depth.empty() && depth.find_first_not_of("0123456789") != std::string_view::npos) return 0;
    const std::int64_t sample = depth.empty() || depth == "8" ? 1 : 2;
    std::int64_t samples = width * height * chroma.planes;
    if (chroma.across != 0)
      samples += 2 * ((width + chroma.across - 1) / chroma.across) * ((height + chroma.down - 1) / chroma.down);
    return samples * sample;
  }
  return 0;
}

/// The number after the letter of WORD; 0 if there is none.
std::int64_t y4m_number(std::string_view word) {
  std::int64_t number = 0;
  std::from_chars(word.data() + 1, word.data() + word.size(), number);
  constexpr std::int64_t kMostPixels = 1 << 20;  // of a side
  return number > 0 && number < kMostPixels ? number : 0;
}

ContainerEnd y4m_end(FileWindow& file) {
  constexpr std::size_t kMostLine = 1024;
  const std::string line(file.at(0, kMostLine).substr(0, file.at(0, kMostLine).find('\n')));
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::string_view format = "420";
  for (std::string_view rest = line; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (word.starts_with("W")) width = y4m_number(word);
    if (word.starts_with("H")) height = y4m_number(word);
    if (word.starts_with("C")) format = word.substr(1);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  const std::int64_t bytes = y4m_frame(width, height, format);
  if (bytes == 0) return {};
  std::int64_t at = static_cast<std::int64_t>(line.size()) + 1;
  for (int i = 0; i < kMostParts && at < file.size(); ++i) {
    const std::string_view head = file.at(at, kMostLine);
    if (!"FRAME"sv.starts_with(head.substr(0, 5))) return {};
    const std::size_t length = head.find('\n');
    if (length == std::string_view::npos) return head.size() < kMostLine ? ends_within("a frame") : ContainerEnd{};
    const std::int64_t end = at + static_cast<std::int64_t>(length) + 1 + bytes;
    if (end > file.size()) return missing(end - file.size(), "a frame");
    at = end;
  }
  return {};
}

// ---- ASF (WMV): objects of an identifier, a size and contents. The header's file properties hold the file's size.

constexpr std::string_view kAsfHeader = "\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C"sv;
constexpr std::string_view kAsfFile = "\xA1\xDC\xAB\x8C\x47\xA9\xCF\x11\x8E\xE4\x00\xC0\x0C\x20\x53\x65"sv;
constexpr std::int64_t kAsfHead = 24;  // of an object

/// The file's size according to its header; 0 if it is unknown, as for a live stream.
std::int64_t asf_file_size(FileWindow& file) {
  constexpr std::int64_t kObjects = 30;  // where the header's own objects begin
  constexpr std::int64_t kSize = 40;     // offset of the file's size in its properties
  constexpr std::int64_t kFlags = 88;
  const auto end = static_cast<std::int64_t>(std::min(file.little(16, 8), kLongest));
  for (std::int64_t at = kObjects; at + kAsfHead <= std::min(end, file.size());) {
    const std::uint64_t size = file.little(at + 16, 8);
    if (size < static_cast<std::uint64_t>(kAsfHead) || size > kLongest) return 0;
    if (file.at(at, kAsfFile.size()) == kAsfFile) {
      const bool is_live = (file.little(at + kFlags, 4) & 1U) != 0;
      const std::uint64_t bytes = file.little(at + kSize, 8);
      return is_live || bytes > kLongest ? 0 : static_cast<std::int64_t>(bytes);
    }
    at += static_cast<std::int64_t>(size);
  }
  return 0;
}

ContainerEnd asf_end(FileWindow& file) {
  const std::int64_t promised = asf_file_size(file);
  if (promised > file.size()) return missing(promised - file.size(), "the file");
  std::int64_t at = 0;
  for (int i = 0; i < kMostParts && at < file.size(); ++i) {
    if (file.size() - at < kAsfHead) return at < promised || promised == 0 ? ends_within("an object") : ContainerEnd{};
    const std::uint64_t size = file.little(at + 16, 8);
    if (size < static_cast<std::uint64_t>(kAsfHead) || size > kLongest) return {};
    const std::int64_t end = at + static_cast<std::int64_t>(size);
    if (end > file.size() && (at < promised || promised == 0)) return missing(end - file.size(), "an object");
    at = end;
  }
  return promised > 0 ? whole() : ContainerEnd{};
}

// ---- Motion JPEG: concatenated images. Their entropy-coded data contain no marker FF D8 or FF D9; their headers may.

ContainerEnd mjpeg_end(FileWindow& file) {
  constexpr std::int64_t kStep = 4096;
  for (std::int64_t end = file.size(); end > 0; end -= kStep - 1) {
    const std::string_view bytes =
        file.at(std::max<std::int64_t>(0, end - kStep), static_cast<std::size_t>(std::min(end, kStep)));
    const std::size_t started = bytes.rfind("\xFF\xD8"sv);
    const std::size_t ended = bytes.rfind("\xFF\xD9"sv);
    if (started == std::string_view::npos && ended == std::string_view::npos) continue;
    const bool is_cut = ended == std::string_view::npos || (started != std::string_view::npos && started > ended);
    return is_cut ? ends_within("an image") : ContainerEnd{};
  }
  return {};
}

}  // namespace

ContainerEnd container_end(const std::string& path) {
  FileWindow file(path);
  const std::string_view head = file.at(0, 16);
  if (head.starts_with("\x1A\x45\xDF\xA3"sv)) return matroska_end(file);
  if (head.size() >= 12 && head.starts_with("RIFF") && head.substr(8, 4) == "AVI ") return avi_end(file);
  if (head.starts_with("FLV")) return flv_end(file);
  if (head.starts_with("YUV4MPEG2 ")) return y4m_end(file);
  if (head == kAsfHeader) return asf_end(file);
  if (head.starts_with("\xFF\xD8\xFF"sv)) return mjpeg_end(file);
  if (is_ts(file, 188, 0)) return ts_end(file, 188, 0);
  if (is_ts(file, 192, 4)) return ts_end(file, 192, 4);
  for (std::string_view type : {"ftyp"sv, "moov"sv, "mdat"sv, "free"sv, "skip"sv, "wide"sv, "styp"sv, "pnot"sv})
    if (head.size() >= 8 && head.substr(4, 4) == type) return mp4_end(file);
  return {};
}

}  // namespace saccade
