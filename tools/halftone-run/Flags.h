// SPDX-License-Identifier: Apache-2.0
// Values of flags: whole numbers within sense and paths that are there, refused
// in words.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <fmt/format.h>

namespace halftone::run {

/// More steps than anyone waits for; sums and products of counts below it stay
/// far inside 64 bits.
inline constexpr int64_t kMostSteps = 1'000'000'000'000;

/// The number that `text` is from end to end; refuses all else, saying what
/// `name` expects.
template <typename T>
T parseNumber(const std::string &name, const std::string &text, T least,
              T most) {
  T value = 0;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most)
    throw CLI::ValidationError(
        name, fmt::format("expected a whole number from {} to {}, not '{}'",
                          least, most, text));
  return value;
}

/// An option that takes a whole number; `value` may be optional.
template <typename T, typename Value>
CLI::Option *addNumber(CLI::App &command, const std::string &name, Value &value,
                       T least, T most, const std::string &help) {
  return command
      .add_option_function<std::string>(
          name,
          [&value, name, least, most](const std::string &text) {
            value = parseNumber<T>(name, text, least, most);
          },
          help)
      ->type_name("N");
}

/// An option that takes text that is not empty: a variable that a script left
/// unset is no wish for the default.
template <typename Value>
CLI::Option *addText(CLI::App &command, const std::string &name, Value &value,
                     const char *type, const std::string &help) {
  return command.add_option(name, value, help)
      ->type_name(type)
      ->check(CLI::Validator(
          [type](const std::string &text) {
            return text.empty() ? fmt::format("expected {}, not ''", type)
                                : std::string();
          },
          ""));
}

} // namespace halftone::run
