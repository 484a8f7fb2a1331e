// Random numbers: Philox keyed by (seed, step, node, element).
include "compiler/graph/GraphBase.td"
