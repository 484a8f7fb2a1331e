// SPDX-License-Identifier: Apache-2.0
// Gathering of batches from bound arrays.
#include "runtime/data/DataSet.h"

#include "runtime/base/Sha256.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Npy.h"
#include "runtime/data/Safetensors.h"

#include <algorithm>
#include <cstring>

namespace halftone::runtime {

namespace {
/// Fills `count` elements with an integer value, in an integer or float type.
void fillElements(ElementType type, int64_t value, std::byte *destination,
                  uint64_t count) {
  std::vector<std::byte> element(elementSize(type));
  float real = static_cast<float>(value);
  int32_t narrow = static_cast<int32_t>(value);
  const void *source = type == ElementType::F32   ? static_cast<void *>(&real)
                       : type == ElementType::I32 ? static_cast<void *>(&narrow)
                                                  : &value;
  std::memcpy(element.data(), source, element.size());
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(destination + i * element.size(), element.data(),
                element.size());
}

/// The first and the last byte are among the pieces.
void hashPieces(Sha256 &hash, std::span<const std::byte> bytes) {
  constexpr uint64_t kPieces = 256, kPiece = DataSet::kHashedBytes / kPieces;
  if (bytes.size() <= DataSet::kHashedBytes)
    return hash.update(bytes);
  for (uint64_t i = 0; i < kPieces; ++i)
    hash.update(
        bytes.subspan((bytes.size() - kPiece) * i / (kPieces - 1), kPiece));
}
} // namespace

Result<ArrayMap> readArrays(const std::filesystem::path &path) {
  std::string extension = path.extension();
  if (extension == ".npz")
    return readNpz(path);
  if (extension == ".npy") {
    Result<HostArray> array = readNpy(path);
    HALFTONE_RETURN_IF_ERROR(array);
    return ArrayMap{{"", std::move(*array)}};
  }
  if (extension == ".safetensors") {
    Result<SafetensorsFile> file = readSafetensors(path);
    HALFTONE_RETURN_IF_ERROR(file);
    return std::move(file->arrays);
  }
  return invalidInput(path.string() +
                      ": data files end in .npz, .npy or .safetensors");
}

Result<DataSet> DataSet::open(const std::filesystem::path &path,
                              const Plan &plan, ProgramKind program,
                              bool needTargets, const NoticeSink &notice) {
  Result<ArrayMap> arrays = readArrays(path);
  HALFTONE_RETURN_IF_ERROR(arrays);
  return bind(*arrays, path.string(), plan, program, needTargets, notice);
}

void DataSet::gather(size_t index, std::span<const int64_t> rows,
                     std::byte *destination) const {
  const Binding &binding = bindings[index];
  size_t size = elementSize(binding.type);
  if (binding.input.kind == Input::Kind::RowWeight) {
    for (size_t i = 0; i < rows.size(); ++i)
      fillElements(binding.type, rows[i] != kNoRow, destination + i * size, 1);
    return;
  }
  int64_t padding = binding.input.ignored.value_or(binding.input.minimum);
  if (binding.array.bytes.empty()) {
    uint64_t count = binding.rowElements * (binding.hasRows ? rows.size() : 1);
    return fillElements(binding.type, padding, destination, count);
  }
  if (!binding.hasRows)
    return convertElements(binding.array.type, binding.array.bytes.data(),
                           binding.type, destination, binding.rowElements);
  uint64_t from = binding.rowElements * dataTypeSize(binding.array.type);
  uint64_t to = binding.rowElements * size;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == kNoRow && binding.input.kind == Input::Kind::Target &&
        binding.input.ignored) {
      fillElements(binding.type, padding, destination + i * to,
                   binding.rowElements);
      continue;
    }
    // Padding repeats the first row: legal values whose results do not count.
    uint64_t row = static_cast<uint64_t>(std::max<int64_t>(rows[i], 0));
    convertElements(binding.array.type, binding.array.bytes.data() + row * from,
                    binding.type, destination + i * to, binding.rowElements);
  }
}

std::string DataSet::fingerprint() const {
  Sha256 hash;
  for (const Binding &binding : bindings) {
    std::string what = describe(binding.array) + "\n";
    hash.update(std::as_bytes(std::span<const char>(what)));
    hashPieces(hash, binding.array.bytes);
  }
  return toHex(hash.finish());
}

bool DataSet::isFixed(size_t index) const {
  const Binding &binding = bindings[index];
  return binding.input.kind != Input::Kind::RowWeight &&
         (!binding.hasRows || rowCount == batchRows);
}

uint64_t DataSet::lossElements(std::span<const int64_t> rows) const {
  uint64_t count = 0, targets = 0;
  for (const Binding &binding : bindings) {
    if (binding.input.kind != Input::Kind::Target ||
        binding.array.bytes.empty() || !binding.hasRows)
      continue;
    ++targets;
    for (int64_t row : rows) {
      if (row == kNoRow)
        continue;
      if (!binding.input.ignored || !isInteger(binding.array.type)) {
        count += binding.rowElements;
        continue;
      }
      uint64_t first = static_cast<uint64_t>(row) * binding.rowElements;
      for (uint64_t i = 0; i < binding.rowElements; ++i)
        count += integerAt(binding.array, first + i) != *binding.input.ignored;
    }
  }
  if (targets == 1)
    return count;
  return static_cast<uint64_t>(
      std::ranges::count_if(rows, [](int64_t row) { return row != kNoRow; }));
}

} // namespace halftone::runtime
