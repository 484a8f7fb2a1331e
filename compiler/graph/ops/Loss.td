// Losses; always FP32.
include "compiler/graph/GraphBase.td"
