// Normalizations: composites that stay whole through colouring.
include "compiler/graph/GraphBase.td"
