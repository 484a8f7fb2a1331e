// SPDX-License-Identifier: Apache-2.0
// halftone-opt: reads textual IR, runs the passes named on the command line in
// their order, prints the result.
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/halftone-opt/ProgramPass.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<halftone::graph::GraphDialect, halftone::exec::ExecDialect,
                  memref::MemRefDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect>();
  halftone::tools::registerPasses();
  return asMainReturnCode(MlirOptMain(
      argc, argv, "halftone-opt: Halftone's passes, one at a time\n",
      registry));
}
