# Helpers that every folder uses; one library target per leaf folder, named by its path.

# halftone_folders(a b c): adds the named folders, in this order.
function(halftone_folders)
  foreach(folder ${ARGN})
    add_subdirectory(${folder})
  endforeach()
endfunction()

# halftone_library(NAME graph SRCS a.cpp b.cpp DEPS halftone::interfaces MLIR [PCH mlir])
# defines halftone_NAME with the alias halftone::NAME. PCH names a precompiled header of cmake/pch.
function(halftone_library)
  cmake_parse_arguments(ARG "" "NAME;PCH" "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(halftone_${ARG_NAME} STATIC ${ARG_SRCS})
  add_library(halftone::${ARG_NAME} ALIAS halftone_${ARG_NAME})
  target_link_libraries(halftone_${ARG_NAME} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  halftone_flags(halftone_${ARG_NAME} "${ARG_PCH}")
endfunction()

# halftone_program(NAME halftone-run SRCS main.cpp DEPS ...) puts the program into build/PRESET/bin.
function(halftone_program)
  cmake_parse_arguments(ARG "" "NAME;PCH" "SRCS;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS})
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  halftone_flags(${ARG_NAME} "${ARG_PCH}")
endfunction()

# halftone_test(NAME runtime_base_test SRCS ... DEPS ... [GPU FILTER]): a GoogleTest program, one ctest entry a case, labelled
# host, or gpu where the filter (as of --gtest_filter) says that it needs one. It is compiled with HALFTONE_TESTDATA and HALFTONE_BIN (folders) and HALFTONE_PTXAS (a program, or "...-NOTFOUND").
function(halftone_test)
  cmake_parse_arguments(ARG "" "NAME;PCH;GPU" "SRCS;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${ARG_NAME} PRIVATE
    HALFTONE_TESTDATA="${PROJECT_SOURCE_DIR}/testdata" HALFTONE_BIN="${CMAKE_BINARY_DIR}/bin"
    HALFTONE_PTXAS="${HALFTONE_PTXAS}")
  halftone_flags(${ARG_NAME} "${ARG_PCH}")
  if(ARG_GPU)
    gtest_discover_tests(${ARG_NAME} TEST_FILTER "${ARG_GPU}" PROPERTIES LABELS gpu DISCOVERY_MODE PRE_TEST)
    gtest_discover_tests(${ARG_NAME} TEST_FILTER "-${ARG_GPU}" PROPERTIES LABELS host DISCOVERY_MODE PRE_TEST)
  else()
    gtest_discover_tests(${ARG_NAME} PROPERTIES LABELS host DISCOVERY_MODE PRE_TEST)
  endif()
endfunction()

function(halftone_flags target pch)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  # GCC 12 sees overlapping copies where std::string is added to a literal.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter
    $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
  if(pch)
    target_precompile_headers(${target} REUSE_FROM halftone_pch_${pch})
    # GCC takes the header only with the flag it was compiled with; programs would get -fPIE.
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  endif()
endfunction()

# A precompiled header, built once and shared by all targets that name it.
function(halftone_pch name header)
  file(WRITE ${CMAKE_BINARY_DIR}/pch/${name}.cpp "")
  add_library(halftone_pch_${name} OBJECT ${CMAKE_BINARY_DIR}/pch/${name}.cpp)
  target_link_libraries(halftone_pch_${name} PRIVATE ${ARGN})
  target_precompile_headers(halftone_pch_${name} PRIVATE ${header})
  halftone_flags(halftone_pch_${name} "")
endfunction()

# halftone_tablegen(GraphOps.td -gen-op-decls GraphOps.h.inc ...) runs mlir-tblgen on a .td of this folder; outputs land in
# the same relative folder of the build tree. Follow with halftone_generated(TARGET).
function(halftone_tablegen td)
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args generator output)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${output})
    separate_arguments(flags UNIX_COMMAND "${generator}")
    add_custom_command(OUTPUT ${out}
      COMMAND ${MLIR_TABLEGEN_EXE} ${flags} -I ${PROJECT_SOURCE_DIR} -I ${MLIR_INCLUDE_DIRS}
              ${CMAKE_CURRENT_SOURCE_DIR}/${td} -o ${out} -d ${out}.d --write-if-changed
      COMMAND ${CMAKE_COMMAND} -E touch ${out}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${td} DEPFILE ${out}.d VERBATIM)
    set_property(DIRECTORY APPEND PROPERTY HALFTONE_GENERATED ${out})
  endwhile()
endfunction()

function(halftone_generated name)
  get_property(files DIRECTORY PROPERTY HALFTONE_GENERATED)
  add_custom_target(${name} DEPENDS ${files})
endfunction()
