// SPDX-License-Identifier: Apache-2.0
// The file formats: round trips, what other programs write, and damage.
#include "runtime/data/Convert.h"
#include "runtime/data/DataSet.h"
#include "runtime/data/Npy.h"
#include "runtime/data/Safetensors.h"
#include "tests/runtime/TemporaryFolder.h"
#include "tests/runtime/data/Arrays.h"

#include <gtest/gtest.h>

using namespace halftone::runtime;
using namespace halftone::test;

namespace {
std::string npyFile(const std::string &dictionary, const std::string &data) {
  std::string header = dictionary + "\n";
  uint16_t length = static_cast<uint16_t>(header.size());
  return std::string("\x93NUMPY\x01\0", 8) +
         std::string(reinterpret_cast<char *>(&length), 2) + header + data;
}

Result<HostArray> parse(const std::string &file) {
  return parseNpy(std::as_bytes(std::span(file)), nullptr);
}

TEST(Npy, HeadersAreAlignedAndReadBack) {
  for (const Shape &shape : {Shape{}, Shape{7}, Shape{2, 3, 4}, Shape{0, 5}}) {
    std::string header = npyHeader(DataType::I64, shape);
    EXPECT_EQ(header.size() % 64, 0u);
    std::string data(8 * *elementCount(shape), '\0');
    std::string file = header + data;
    Result<HostArray> array = parse(file);
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(array->type, DataType::I64);
  }
  EXPECT_NE(npyHeader(DataType::U8, {7}).find("'descr': '|u1'"),
            std::string::npos);
  EXPECT_NE(npyHeader(DataType::F32, {7}).find("'shape': (7,)"),
            std::string::npos);
}

TEST(Npy, ReadsColumnMajorArrays) {
  // [[1, 2, 3], [4, 5, 6]] column by column.
  std::string data("\1\4\2\5\3\6", 6);
  std::string file = npyFile(
      "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", data);
  Result<HostArray> array = parse(file);
  ASSERT_TRUE(array.ok());
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(integerAt(*array, i), i + 1);
}

TEST(Npy, RefusesWhatItCannotHold) {
  EXPECT_EQ(parse("").status().message(), "not a valid .npy array");
  EXPECT_EQ(parse(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': "
                          "(3,), }",
                          "12345678"))
                .status()
                .message(),
            "the .npy array is cut short: float32 [3] needs 12 bytes, 8 are "
            "there");
  EXPECT_EQ(parse(npyFile("{'descr': '|O', 'fortran_order': False, 'shape': "
                          "(), }",
                          ""))
                .status()
                .message(),
            "element type '|O' is not supported");
  EXPECT_EQ(parse(npyFile("{'descr': '>f4', 'fortran_order': False, 'shape': "
                          "(), }",
                          "1234"))
                .status()
                .message(),
            "element type '>f4' is not supported");
  EXPECT_EQ(parse(npyFile("{'descr': [('a', '<f4')], 'fortran_order': False, "
                          "'shape': (), }",
                          "1234"))
                .status()
                .message(),
            "arrays of records are not supported");
  EXPECT_FALSE(parse(npyFile("{'descr': '<f4', 'fortran_order': False, "
                             "'shape': (99999999999999999999,), }",
                             ""))
                   .ok());
  EXPECT_FALSE(parse(npyFile("{'shape'", "")).ok());
}

TEST(Npz, RoundTripsAndIsReproducible) {
  TemporaryFolder folder;
  ArrayMap arrays;
  arrays["x"] = floats({2, 2}, {1, 2, 3, 4});
  arrays["grad.a/b.weight"] = integers({3}, {-1, 0, INT64_MAX});
  ASSERT_TRUE(writeNpz(folder / "a.npz", arrays).ok());
  ASSERT_TRUE(writeNpz(folder / "b.npz", arrays).ok());
  EXPECT_EQ(readText(folder / "a.npz"), readText(folder / "b.npz"));
  Result<ArrayMap> read = readNpz(folder / "a.npz");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(toFloats((*read)["x"]), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(integerAt((*read)["grad.a/b.weight"], 2), INT64_MAX);
}

TEST(Npz, DamageIsNamed) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeNpz(folder / "a.npz", {{"x", floats({2}, {1, 2})}}).ok());
  std::string whole = readText(folder / "a.npz");
  std::string changed = whole;
  changed[changed.find("NUMPY") + 125] ^= 1; // In the data.
  Result<ArrayMap> read = readNpz(folder.write("b.npz", changed));
  EXPECT_EQ(read.status().message(),
            (folder / "b.npz").string() +
                ": array 'x': it is damaged: its checksum is wrong");
  read = readNpz(folder.write("c.npz", whole.substr(0, whole.size() / 2)));
  EXPECT_TRUE(read.status().message().starts_with(
      (folder / "c.npz").string() + ": not a valid .npz archive"));
  read = readNpz(folder / "absent.npz");
  EXPECT_EQ(read.status().message(), "cannot open '" +
                                         (folder / "absent.npz").string() +
                                         "': No such file or directory");
}

TEST(Npz, RefusesTypesThatNumpyLacks) {
  TemporaryFolder folder;
  HostArray array = makeArray(DataType::BF16, {1}, std::vector<std::byte>(2));
  Status status = writeNpz(folder / "a.npz", {{"x", array}});
  EXPECT_NE(status.message().find("bfloat16, which .npz files cannot hold"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.npz"));
}

TEST(Safetensors, RoundTrips) {
  TemporaryFolder folder;
  HostArray x = floats({2, 2}, {1, 2, 3, 4}), y = integers({}, {9});
  ASSERT_TRUE(writeSafetensors(folder / "a.safetensors",
                               {makeEntry("x", x.type, x.shape, x.bytes),
                                makeEntry("y", y.type, y.shape, y.bytes)},
                               {{"format", "pt"}})
                  .ok());
  Result<SafetensorsFile> file = readSafetensors(folder / "a.safetensors");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->metadata["format"], "pt");
  EXPECT_EQ(toFloats(file->arrays["x"]), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(file->arrays["x"].shape, (Shape{2, 2}));
  EXPECT_EQ(integerAt(file->arrays["y"], 0), 9);
}

std::string safetensors(const std::string &header, const std::string &data) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + header + data;
}

std::string safetensorsRefusal(const std::string &file) {
  return parseSafetensors(std::as_bytes(std::span(file)), nullptr)
      .status()
      .message();
}

TEST(Safetensors, RefusesDamage) {
  std::string prefix = "not a valid safetensors file: ";
  EXPECT_EQ(safetensorsRefusal("abc"), prefix + "too short");
  EXPECT_EQ(safetensorsRefusal(std::string(8, '\xff')),
            prefix + "its header is longer than the file");
  EXPECT_EQ(safetensorsRefusal(safetensors("[1]", "")),
            prefix + "its header is not JSON");
  EXPECT_EQ(safetensorsRefusal(safetensors("{\"x\":{}}", "")),
            prefix + "tensor 'x' lacks its type, shape or place");
  auto tensor = [](const std::string &type, const std::string &shape,
                   const std::string &place) {
    return safetensors("{\"x\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
                           ",\"data_offsets\":" + place + "}}",
                       "12345678");
  };
  EXPECT_EQ(safetensorsRefusal(tensor("F32", "[2]", "[0,8]")), "");
  EXPECT_EQ(safetensorsRefusal(tensor("F8_E4M3", "[8]", "[0,8]")),
            "tensor 'x' has the unsupported element type F8_E4M3");
  EXPECT_EQ(safetensorsRefusal(tensor("F32", "[3]", "[0,12]")),
            prefix + "tensor 'x' lies outside the file; is it cut short?");
  EXPECT_EQ(safetensorsRefusal(tensor("F32", "[1]", "[0,8]")),
            prefix + "tensor 'x' has other bytes than its shape says");
  EXPECT_EQ(safetensorsRefusal(tensor("F32", "[-2]", "[0,8]")),
            prefix + "tensor 'x' has an impossible shape");
  EXPECT_EQ(safetensorsRefusal(tensor("F32", "[2]", "[8,0]")),
            prefix + "tensor 'x' lies outside the file; is it cut short?");
}

TEST(Convert, AllowsOnlyWhatTheContractNames) {
  EXPECT_TRUE(isConvertible(DataType::F64, ElementType::F32));
  EXPECT_TRUE(isConvertible(DataType::I32, ElementType::I64));
  EXPECT_TRUE(isConvertible(DataType::I64, ElementType::I32));
  EXPECT_TRUE(isConvertible(DataType::U8, ElementType::F32));
  EXPECT_TRUE(isConvertible(DataType::Bool, ElementType::Bool));
  EXPECT_FALSE(isConvertible(DataType::F32, ElementType::I64));
  EXPECT_FALSE(isConvertible(DataType::I64, ElementType::F32));
  EXPECT_FALSE(isConvertible(DataType::I16, ElementType::I64));
  EXPECT_FALSE(isConvertible(DataType::F32, ElementType::F16));
}

TEST(ReadArrays, GoesByTheExtension) {
  TemporaryFolder folder;
  Result<ArrayMap> read = readArrays(folder.write("data.csv", "1,2"));
  EXPECT_EQ(read.status().message(),
            (folder / "data.csv").string() +
                ": data files end in .npz, .npy or .safetensors");
  std::string file = npyHeader(DataType::U8, {2}) + "ab";
  read = readArrays(folder.write("x.npy", file));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(integerAt(read->at(""), 1), 'b');
}
} // namespace
