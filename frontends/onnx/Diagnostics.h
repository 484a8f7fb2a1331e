// SPDX-License-Identifier: Apache-2.0
// What an import has to say, as values: a program prints them, a test compares
// them.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <string>
#include <vector>

namespace halftone::onnx_frontend {

enum class Severity { Error, Warning, Notice };

struct Diagnostic {
  Severity severity;
  /// One sentence or a few, without "error:"; says what was found and what to
  /// do about it.
  std::string message;
};

class DiagnosticLog {
public:
  void error(const llvm::Twine &message) { add(Severity::Error, message); }
  void warning(const llvm::Twine &message) { add(Severity::Warning, message); }
  void notice(const llvm::Twine &message) { add(Severity::Notice, message); }

  bool hasErrors() const {
    return llvm::any_of(entries, [](const Diagnostic &d) {
      return d.severity == Severity::Error;
    });
  }
  llvm::ArrayRef<Diagnostic> all() const { return entries; }
  void append(const DiagnosticLog &other) {
    entries.insert(entries.end(), other.entries.begin(), other.entries.end());
  }
  std::vector<Diagnostic> take() { return std::move(entries); }

private:
  void add(Severity severity, const llvm::Twine &message) {
    // The same sentence twice says no more than once.
    Diagnostic entry{severity, message.str()};
    for (const Diagnostic &known : entries)
      if (known.severity == severity && known.message == entry.message)
        return;
    entries.push_back(std::move(entry));
  }

  std::vector<Diagnostic> entries;
};

/// "a, b, c"; of more than `limit` names the first ones, "and 12 more".
inline std::string joinNames(llvm::ArrayRef<std::string> names,
                             size_t limit = SIZE_MAX) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < limit; ++i)
    out += (i ? ", " : "") + names[i];
  if (names.size() > limit)
    out += " and " + std::to_string(names.size() - limit) + " more";
  return out;
}

/// "1 tensor", "3 tensors".
inline std::string counted(size_t n, const std::string &noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

} // namespace halftone::onnx_frontend
