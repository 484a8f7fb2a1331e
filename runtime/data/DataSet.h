// SPDX-License-Identifier: Apache-2.0
// A data file bound to the inputs of a program: matched by name, checked, and
// given out batch by batch in the plan's types.
#pragma once

#include "runtime/base/Notice.h"
#include "runtime/base/Status.h"
#include "runtime/data/HostArray.h"
#include "runtime/plan/Plan.h"

#include <filesystem>

namespace halftone::runtime {

/// Reads .npz, .npy (one array, named "") or .safetensors, by the file's
/// extension.
Result<ArrayMap> readArrays(const std::filesystem::path &path);

/// Stands for no row: gather writes padding that does not count.
inline constexpr int64_t kNoRow = -1;

class DataSet {
public:
  /// Matches `arrays` to the program's inputs. `source` names the file in
  /// messages. Every problem is refused in one message (names, expected and
  /// found types and shapes, labels out of range); conversions are told to
  /// `notice`. With `needTargets` false, missing targets are no problem and
  /// read as labels that do not count, or zeros.
  static Result<DataSet> bind(const ArrayMap &arrays, const std::string &source,
                              const Plan &plan, ProgramKind program,
                              bool needTargets, const NoticeSink &notice);

  static Result<DataSet> open(const std::filesystem::path &path,
                              const Plan &plan, ProgramKind program,
                              bool needTargets, const NoticeSink &notice);

  /// Rows in the file; at least 1.
  int64_t rows() const { return rowCount; }
  int64_t batch() const { return batchRows; }

  /// Whether a batch may hold kNoRow without a trace in the loss.
  bool canMask() const { return maskable; }

  /// A hash of the types, shapes and content of the arrays that are read, in
  /// hexadecimal: the same for the same data in another file. Of an array of
  /// more than kHashedBytes, evenly spread pieces of as many bytes in all
  /// stand for the content, so that a start need not read all of a large file.
  std::string fingerprint() const;
  static constexpr uint64_t kHashedBytes = 256 << 20;

  /// Writes input `index` of the program for these rows (as many as a batch),
  /// in the type and shape of its buffer.
  void gather(size_t index, std::span<const int64_t> rows,
              std::byte *destination) const;

  /// Whether input `index` is the same for every batch: it has no rows, or the
  /// file is a single batch.
  bool isFixed(size_t index) const;

  /// How many elements of the loss's mean these rows stand for: labels that are
  /// not ignored, or target elements, or rows.
  uint64_t lossElements(std::span<const int64_t> rows) const;

private:
  struct Binding {
    Input input;
    ElementType type;
    Shape shape;     ///< Of the buffer.
    HostArray array; ///< Empty bytes: no data (row weights, absent targets).
    bool hasRows;    ///< Leading dimension is the batch.
    uint64_t rowElements; ///< Of one row, or of everything.
  };
  friend class DataBinder;

  std::vector<Binding> bindings;
  int64_t rowCount = 0, batchRows = 0;
  bool maskable = false;
};

} // namespace halftone::runtime
