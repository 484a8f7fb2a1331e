// SPDX-License-Identifier: Apache-2.0
// Archives of .npy arrays over libzip.
#include "runtime/data/Npy.h"

#include "runtime/base/File.h"

#include <zip.h>

namespace halftone::runtime {

namespace {
constexpr uint64_t kMaxEntryBytes = uint64_t(1) << 40;

struct CloseArchive {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t *entry) const { zip_fclose(entry); }
};
using ArchivePointer = std::unique_ptr<zip_t, CloseArchive>;

Result<HostArray> readEntry(zip_t *archive, zip_uint64_t index,
                            const zip_stat_t &stat) {
  std::unique_ptr<zip_file_t, CloseEntry> entry(
      zip_fopen_index(archive, index, 0));
  if (!entry)
    return invalidInput("it cannot be unpacked: " +
                        std::string(zip_strerror(archive)));
  if (stat.size > kMaxEntryBytes || stat.size / 2048 > stat.comp_size + 64)
    return invalidInput("it states an impossible size");
  auto bytes = std::make_shared<std::vector<std::byte>>(stat.size);
  uint64_t done = 0;
  while (done < stat.size) {
    zip_int64_t got =
        zip_fread(entry.get(), bytes->data() + done, stat.size - done);
    if (got <= 0)
      return invalidInput("it is damaged or cut short");
    done += static_cast<uint64_t>(got);
  }
  // Reading past the end makes libzip compare the checksum.
  char extra;
  if (zip_fread(entry.get(), &extra, 1) < 0)
    return invalidInput("it is damaged: its checksum is wrong");
  return parseNpy({bytes->data(), bytes->size()}, bytes);
}

std::string zipMessage(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

/// Adds the archive's entries; the sources point into `headers` and the arrays.
Status addEntries(zip_t *archive, const ArrayMap &arrays,
                  std::vector<std::vector<std::byte>> &contents) {
  for (const auto &[name, array] : arrays) {
    if (npyName(array.type).empty())
      return invalidInput("'" + name + "' is " +
                          std::string(dataTypeName(array.type)) +
                          ", which .npz files cannot hold");
    std::string header = npyHeader(array.type, array.shape);
    std::vector<std::byte> &content = contents.emplace_back();
    auto start = std::as_bytes(std::span<const char>(header));
    content.assign(start.begin(), start.end());
    content.insert(content.end(), array.bytes.begin(), array.bytes.end());
    zip_source_t *source =
        zip_source_buffer(archive, content.data(), content.size(), 0);
    zip_int64_t index = source ? zip_file_add(archive, (name + ".npy").c_str(),
                                              source, ZIP_FL_ENC_UTF_8)
                               : -1;
    if (index < 0) {
      if (source)
        zip_source_free(source);
      return failed(zip_strerror(archive));
    }
    zip_set_file_compression(archive, index, ZIP_CM_STORE, 0);
    // Equal content makes equal files: a fixed date (1980-01-01), as numpy
    // writes.
    zip_file_set_dostime(archive, index, 0, (1 << 5) | 1, 0);
  }
  return {};
}
} // namespace

Result<ArrayMap> readNpz(const std::filesystem::path &path) {
  // Opened by ourselves first, for the message of a file that is not there.
  HALFTONE_RETURN_IF_ERROR(MappedFile::open(path));
  int code = 0;
  ArchivePointer archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive)
    return invalidInput(path.string() +
                        ": not a valid .npz archive: " + zipMessage(code));
  ArrayMap arrays;
  zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), i, 0, &stat) != 0)
      return invalidInput(path.string() + ": " + zip_strerror(archive.get()));
    std::string name = stat.name;
    if (!name.ends_with(".npy"))
      continue;
    Result<HostArray> array = readEntry(archive.get(), i, stat);
    name.resize(name.size() - 4);
    HALFTONE_RETURN_IF_ERROR(
        withContext(path.string() + ": array '" + name + "'", array.status()));
    arrays.insert_or_assign(name, std::move(*array));
  }
  return arrays;
}

Status writeNpz(const std::filesystem::path &path, const ArrayMap &arrays) {
  // libzip writes a temporary file beside `path` and renames it when closed.
  int code = 0;
  zip_t *archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  std::string context = "cannot write '" + path.string() + "'";
  if (!archive)
    return failed(context + ": " + zipMessage(code));
  std::vector<std::vector<std::byte>> contents;
  contents.reserve(arrays.size());
  Status status = addEntries(archive, arrays, contents);
  if (status.ok() && zip_close(archive) == 0)
    return {};
  if (status.ok())
    status = failed(zip_strerror(archive));
  zip_discard(archive);
  return withContext(context, status);
}

} // namespace halftone::runtime
