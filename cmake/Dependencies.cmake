# Everything found outside the repository. Compile caching first, so that it covers all that follows.
find_program(CCACHE ccache)
if(CCACHE)
  # The launcher carries ccache's settings, so that nothing depends on who calls the build: precompiled headers need the
  # sloppiness, and with the base directory a clone in another folder finds the same entries.
  set(HALFTONE_CCACHE ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${HALFTONE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HALFTONE_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()
find_program(LLD ld.lld)
if(LLD)
  add_link_options(-fuse-ld=lld)
endif()

# The build without compiler and CPU device is carried to other machines: it links what it can statically.
if(NOT HALFTONE_COMPILER)
  set(Protobuf_USE_STATIC_LIBS ON)
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed)
endif()
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(fmt REQUIRED)
if(NOT HALFTONE_COMPILER)
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
endif()
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
if(NOT HALFTONE_COMPILER)
  # There is no static libzip in Debian; it and what it needs travel beside the programs.
  foreach(soname libzip.so.4 libbz2.so.1.0 libcrypto.so.3 libz.so.1)
    find_file(CARRIED_${soname} ${soname} PATHS ${LIBZIP_LIBDIR} /lib/${CMAKE_LIBRARY_ARCHITECTURE} REQUIRED)
    file(REAL_PATH ${CARRIED_${soname}} library)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
    configure_file(${library} ${CMAKE_BINARY_DIR}/lib/${soname} COPYONLY)
  endforeach()
  # As RPATH, which what lies there is found by too, and not RUNPATH.
  list(APPEND CMAKE_BUILD_RPATH "\$ORIGIN/../lib")
  add_link_options(-Wl,--disable-new-dtags)
endif()
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
endif()

if(HALFTONE_COMPILER OR HALFTONE_CPU)
  find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/mlir NO_DEFAULT_PATH)
  include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  list(APPEND CMAKE_BUILD_RPATH ${LLVM_LIBRARY_DIRS})
endif()
if(HALFTONE_COMPILER)
  halftone_pch(mlir ${PROJECT_SOURCE_DIR}/cmake/pch/mlir.h MLIR)
endif()
if(HALFTONE_CPU)
  find_package(OpenMP REQUIRED)
  # halftone_deps::onednn: found by hand, because the package file that Debian installs insists on OpenCL's headers.
  find_library(ONEDNN_LIBRARY dnnl REQUIRED)
  find_path(ONEDNN_INCLUDE_DIR dnnl.hpp REQUIRED)
  add_library(halftone_deps::onednn SHARED IMPORTED)
  set_target_properties(halftone_deps::onednn PROPERTIES
    IMPORTED_LOCATION ${ONEDNN_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ONEDNN_INCLUDE_DIR})
endif()

# halftone_deps::cuda_headers: declarations of the driver, cuBLASLt and cuDNN; the libraries are opened at run time.
# From a toolkit, or where tools/setup.sh put them.
set(fetched_headers ${HALFTONE_CACHE}/cuda-headers/include)
find_path(CUDA_INCLUDE_DIR cuda.h
  PATHS /usr/local/cuda/include $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include ${fetched_headers})
find_path(CUBLASLT_INCLUDE_DIR cublasLt.h HINTS ${CUDA_INCLUDE_DIR} PATHS ${fetched_headers})
find_path(CUDNN_INCLUDE_DIR cudnn_backend.h HINTS ${CUDA_INCLUDE_DIR} PATHS ${fetched_headers})
# In the cache, so that .ci/run can refuse a build without.
if(CUDA_INCLUDE_DIR AND CUBLASLT_INCLUDE_DIR AND CUDNN_INCLUDE_DIR)
  set(HALFTONE_CUDA ON CACHE INTERNAL "")
  add_library(halftone_deps::cuda_headers INTERFACE IMPORTED)
  target_include_directories(halftone_deps::cuda_headers INTERFACE
    ${CUDA_INCLUDE_DIR} ${CUBLASLT_INCLUDE_DIR} ${CUDNN_INCLUDE_DIR})
else()
  set(HALFTONE_CUDA OFF CACHE INTERNAL "")
  message(STATUS "CPU only: the headers of CUDA 13 (cuda.h, cublasLt.h) and cuDNN 9 (cudnn_backend.h) are not all there; "
    "tools/setup.sh fetches them")
endif()
if(NOT HALFTONE_CUDA AND NOT HALFTONE_CPU)
  message(FATAL_ERROR "A build without the CPU device needs the headers of CUDA and cuDNN")
endif()

# halftone_deps::onnx: the ONNX library that tools/dev/build_onnx.sh put into the cache folder.
if(HALFTONE_COMPILER)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env HALFTONE_CACHE=${HALFTONE_CACHE} CXX=${CMAKE_CXX_COMPILER}
            ${PROJECT_SOURCE_DIR}/tools/dev/build_onnx.sh --where
    OUTPUT_VARIABLE HALFTONE_ONNX OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT EXISTS ${HALFTONE_ONNX}/stamp)
    message(FATAL_ERROR "The ONNX library is not in ${HALFTONE_ONNX}; tools/setup.sh builds it there.")
  endif()
  string(REGEX REPLACE ".*onnx-([0-9.]+)-.*" "\\1" HALFTONE_ONNX_VERSION ${HALFTONE_ONNX})
  add_library(halftone_deps::onnx STATIC IMPORTED)
  set_target_properties(halftone_deps::onnx PROPERTIES
    IMPORTED_LOCATION ${HALFTONE_ONNX}/lib/libonnx.a
    INTERFACE_INCLUDE_DIRECTORIES ${HALFTONE_ONNX}/include
    INTERFACE_COMPILE_DEFINITIONS "ONNX_ML=1;ONNX_NAMESPACE=onnx"
    INTERFACE_LINK_LIBRARIES protobuf::libprotobuf)
endif()

# CUDA's assembler, for the tests of generated kernels: from a toolkit, or where tools/setup.sh put it.
find_program(HALFTONE_PTXAS ptxas PATHS /usr/local/cuda/bin ${HALFTONE_CACHE})
