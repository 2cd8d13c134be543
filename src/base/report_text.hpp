#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/printable.hpp"

namespace saccade {

/// Multi-line text for people, composed of our words and foreign names. A format string is ours and is inserted as it
/// is; every string among its arguments is made printable(), so that no name can end or forge a line or control a
/// terminal. A ReportText among them is clean already. There is no other way to add text.
class ReportText {
 public:
  /// The formatted type of ARG. Ranges and user-defined types are rejected: they may contain strings.
  template <typename Arg>
  static decltype(auto) cleaned(const Arg& arg) {
    if constexpr (std::same_as<Arg, ReportText>)
      return std::string_view(arg.text_);
    else if constexpr (std::convertible_to<const Arg&, std::string_view>)
      return printable(arg);
    else if constexpr (std::is_arithmetic_v<Arg>)
      return arg;
    else
      static_assert(std::is_arithmetic_v<Arg>, "give a string, a number or a ReportText");
  }
  template <typename Arg>
  using Cleaned = std::remove_cvref_t<decltype(cleaned(std::declval<const std::remove_cvref_t<Arg>&>()))>;
  template <typename... Args>
  using Format = fmt::format_string<Cleaned<Args>...>;

  ReportText() = default;
  template <typename... Args>
  explicit ReportText(Format<Args...> format, const Args&... args) {
    add(format, args...);
  }

  template <typename... Args>
  ReportText& add(Format<Args...> format, const Args&... args) {
    add_formatted(format, cleaned(args)...);
    return *this;
  }
  ReportText& operator+=(const ReportText& other) {
    text_ += other.text_;
    return *this;
  }
  ReportText& operator+=(Format<> words) { return add(words); }
  friend ReportText operator+(ReportText text, const ReportText& more) { return text += more; }
  friend ReportText operator+(ReportText text, Format<> words) { return text += words; }
  friend ReportText operator+(Format<> words, const ReportText& more) { return ReportText(words) += more; }
  bool operator==(const ReportText& other) const { return text_ == other.text_; }

  /// Replaces every occurrence of WORD with a text of ours.
  void replace(std::string_view word, Format<> by) {
    const std::string other = fmt::format(by);
    for (std::size_t at = text_.find(word); at != std::string::npos; at = text_.find(word, at + other.size()))
      text_.replace(at, word.size(), other);
  }

  const std::string& str() const { return text_; }
  operator std::string_view() const { return text_; }

 private:
  template <typename... Args>
  void add_formatted(fmt::string_view format, const Args&... args) {
    fmt::vformat_to(std::back_inserter(text_), format, fmt::make_format_args(args...));
  }

  std::string text_;
};

/// A ReportText of one format string.
template <typename... Args>
ReportText report_text(ReportText::Format<Args...> format, const Args&... args) {
  return ReportText(format, args...);
}

}  // namespace saccade
