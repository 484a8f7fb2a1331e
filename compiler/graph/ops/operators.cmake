# One line an operator family, one line an operator.
set(HALFTONE_OP_FAMILIES Program Elementwise Logic Activation Movement Reduction Product Window Normalization Loss Random)
set(HALFTONE_OPS
  # Elementwise
  Abs.cpp
  Add.cpp
  Cast.cpp
  CastLike.cpp
  Ceil.cpp
  Clip.cpp
  Cos.cpp
  Div.cpp
  Erf.cpp
  Exp.cpp
  Expm1.cpp
  Floor.cpp
  Identity.cpp
  Log.cpp
  Max.cpp
  Mean.cpp
  Min.cpp
  Mod.cpp
  Mul.cpp
  Neg.cpp
  Pow.cpp
  Reciprocal.cpp
  Round.cpp
  Sign.cpp
  Sin.cpp
  Sqrt.cpp
  Sub.cpp
  Sum.cpp
  Tan.cpp
  Tanh.cpp
  Where.cpp
  # Logic
  And.cpp
  Equal.cpp
  Greater.cpp
  GreaterOrEqual.cpp
  IsFinite.cpp
  IsInf.cpp
  IsNaN.cpp
  Less.cpp
  LessOrEqual.cpp
  Not.cpp
  NotEqual.cpp
  Or.cpp
  Xor.cpp
  # Activation
  Celu.cpp
  Elu.cpp
  Gelu.cpp
  HardSigmoid.cpp
  HardSwish.cpp
  LeakyRelu.cpp
  Mish.cpp
  PRelu.cpp
  Relu.cpp
  Selu.cpp
  Sigmoid.cpp
  Softplus.cpp
  Softsign.cpp
  Swish.cpp
  ThresholdedRelu.cpp
  # Movement
  Expand.cpp
  Reshape.cpp
  Transpose.cpp
  # Reduction
  ReduceSum.cpp
  # Product
  MatMul.cpp
  MatMulPatterns.cpp
  Gemm.cpp
  # Window
  WindowGeometry.cpp
  Convolution.cpp
  Conv.cpp
  Pool.cpp
  MaxPool.cpp
  AveragePool.cpp
)
