// Windows that slide over spatial axes, and convolution.
include "compiler/graph/GraphBase.td"
