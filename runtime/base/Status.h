// SPDX-License-Identifier: Apache-2.0
// How the runtime reports failure: Status and Result<T> are returned, nothing
// is thrown across a library and nothing aborts on input.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace halftone::runtime {

/// What kind of failure it was; decides the exit code of the programs.
enum class StatusCode {
  Ok,
  InvalidInput, ///< Wrong usage or refused input; the message says what to do
                ///< about it. Exit code 2.
  Unsupported,  ///< Not available in this build or on this machine: a device, a
                ///< driver, a library. Exit code 1.
  OutOfMemory,  ///< Exit code 1.
  NonFinite, ///< Training stopped because of values that are not finite. Exit
             ///< code 1.
  Failed,    ///< Anything else that went wrong while running: files, devices,
             ///< libraries. Exit code 1.
};

/// Success, or a code with one message for the user: one sentence or more, no
/// trailing newline.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : statusCode(code), text(std::move(message)) {}

  bool ok() const { return statusCode == StatusCode::Ok; }
  StatusCode code() const { return statusCode; }
  const std::string &message() const { return text; }

private:
  StatusCode statusCode = StatusCode::Ok;
  std::string text;
};

inline Status invalidInput(std::string message) {
  return {StatusCode::InvalidInput, std::move(message)};
}
inline Status unsupported(std::string message) {
  return {StatusCode::Unsupported, std::move(message)};
}
inline Status outOfMemory(std::string message) {
  return {StatusCode::OutOfMemory, std::move(message)};
}
inline Status failed(std::string message) {
  return {StatusCode::Failed, std::move(message)};
}

/// The same failure with `context` and ": " before its message; success stays
/// success.
inline Status withContext(const std::string &context, const Status &status) {
  return status.ok() ? status
                     : Status(status.code(), context + ": " + status.message());
}

/// A value, or the Status that says why there is none. value(), * and -> need
/// ok().
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : content(std::in_place_index<1>, std::move(status)) {}

  bool ok() const { return content.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(content); }

  T &value() & { return *std::get_if<0>(&content); }
  const T &value() const & { return *std::get_if<0>(&content); }
  T &&value() && { return std::move(*std::get_if<0>(&content)); }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(*this).value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

private:
  std::variant<T, Status> content;
};

inline Status statusOf(Status status) { return status; }
template <typename T> Status statusOf(const Result<T> &result) {
  return result.status();
}

} // namespace halftone::runtime

/// Leaves the function with the failure of `expression`, a Status or a Result.
#define HALFTONE_RETURN_IF_ERROR(expression)                                   \
  if (::halftone::runtime::Status failure =                                    \
          ::halftone::runtime::statusOf(expression);                           \
      !failure.ok())                                                           \
  return failure
