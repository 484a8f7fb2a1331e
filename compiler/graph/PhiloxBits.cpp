// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/PhiloxBits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace halftone::graph {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
constexpr uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;

} // namespace

uint32_t philoxWord(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < kRounds; ++round) {
    uint64_t p0 = uint64_t(kMultiplier0) * c[0];
    uint64_t p1 = uint64_t(kMultiplier1) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1),
         uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
    k = {k[0] + kWeyl0, k[1] + kWeyl1};
  }
  return c[0];
}

Value emitPhiloxWord(ScalarBuilder &b, std::array<Value, 4> c,
                     std::array<Value, 2> k) {
  auto word = [&](uint32_t bits) {
    return b.constantInt(static_cast<int32_t>(bits), b.b.getI32Type());
  };
  Value multiplier0 = word(kMultiplier0), multiplier1 = word(kMultiplier1);
  for (int round = 0; round < kRounds; ++round) {
    auto p0 = b.b.create<arith::MulUIExtendedOp>(c[0], multiplier0);
    auto p1 = b.b.create<arith::MulUIExtendedOp>(c[2], multiplier1);
    c = {b.xori(b.xori(p1.getHigh(), c[1]), k[0]), p1.getLow(),
         b.xori(b.xori(p0.getHigh(), c[3]), k[1]), p0.getLow()};
    k = {b.add(k[0], word(kWeyl0)), b.add(k[1], word(kWeyl1))};
  }
  return c[0];
}

} // namespace halftone::graph
