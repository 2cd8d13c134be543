#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace saccade::app {

/// The English plural of a class name: "person" is "persons", "wine glass" "wine glasses", "scissors" themselves. What
/// does not end in an ASCII letter stays as it is.
std::string plural_of(std::string_view name);

/// NAME; "class 7" if it is a number.
std::string shown_class(std::string_view name);

/// "1 bus", "4 persons"; of a class whose name is a number: "4 of class 7".
std::string counted(std::int64_t count, std::string_view name);

}  // namespace saccade::app
