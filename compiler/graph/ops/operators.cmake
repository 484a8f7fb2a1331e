# One line an operator family, one line an operator.
set(HALFTONE_OP_FAMILIES Program Elementwise Movement Reduction Product Window Normalization Loss Random)
set(HALFTONE_OPS
  # Elementwise
  Add.cpp
  Mul.cpp
  Neg.cpp
  Sub.cpp
  Tanh.cpp
  # Movement
  Expand.cpp
  Reshape.cpp
  Transpose.cpp
  # Reduction
  ReduceSum.cpp
  # Product
  MatMul.cpp
)
