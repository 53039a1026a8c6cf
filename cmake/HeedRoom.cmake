# heed_room(NAME [COMPUTES] [ROOMS lower rooms...] [LIBRARIES third-party libraries...] [HEADER_LIBRARIES third-party libraries of headers alone...]
#           [TEST_ROOMS rooms that only its tests use...] [TEST_LIBRARIES third-party libraries that only its tests use...])
#
# A room is a folder of heed/: every .cc in it is one static library heed_NAME, which links only the lower rooms it names;
# every *_test.cc in it is one test program heed_NAME_test, every *_bench.cc one benchmark program. A folder within a room's is a
# room of its own (ops/attention: heed_ops_attention) where it is declared before the one around it. Rooms are how heed is built and
# tested; what is installed is made of them (HeedLibrary.cmake).
#
# In a build for development a room that COMPUTES is optimised as the preset says, any other one less, which compiles in three quarters of
# the time, and of what their tests do themselves less still.
set(HEED_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 raises false alarms in std::string (its bug 105651), at -O3 and wherever more is inlined than usual.
  list(APPEND HEED_WARNINGS -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(HEED_WERROR)
  list(APPEND HEED_WARNINGS -Werror)
endif()

# heed_precompile(KIND target headers...): the headers are parsed once, for the first target of a kind, and all others of it reuse that.
function(heed_precompile kind target)
  get_property(first GLOBAL PROPERTY HEED_FIRST_OF_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY HEED_FIRST_OF_${kind} ${target})
  endif()
endfunction()

# heed_test_program(target O0|O1): what every test program is compiled with, in a build for development so much optimised: with O0 in two
# thirds of the time. GoogleTest is parsed once for all of a kind.
function(heed_test_program test_program level)
  target_compile_options(${test_program} PRIVATE ${HEED_WARNINGS} $<$<CONFIG:RelWithDebInfo>:-${level}>)
  target_compile_definitions(${test_program} PRIVATE HEED_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${test_program} PRIVATE GTest::gtest_main)
  add_dependencies(${test_program} heed_test_data)
  heed_precompile(TESTS_${level} ${test_program} <gtest/gtest.h>)
endfunction()

# heed_discover_suites(test_program prefix): the tests of ctest (discover_suites.cmake), found whenever the program is built.
function(heed_discover_suites test_program prefix)
  set(found ${CMAKE_CURRENT_BINARY_DIR}/${test_program}_suites.cmake)
  set(script ${PROJECT_SOURCE_DIR}/cmake/discover_suites.cmake)
  add_custom_command(TARGET ${test_program} POST_BUILD BYPRODUCTS ${found} VERBATIM
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${test_program}> -D PREFIX=${prefix} -D OUT=${found} -P ${script})
  set_property(TARGET ${test_program} APPEND PROPERTY LINK_DEPENDS ${script})
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${found})
endfunction()

function(heed_room folder)
  cmake_parse_arguments(room "COMPUTES" "" "ROOMS;LIBRARIES;HEADER_LIBRARIES;TEST_ROOMS;TEST_LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB_RECURSE sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/*.cc)
  get_property(rooms GLOBAL PROPERTY HEED_ROOM_FOLDERS)
  foreach(within IN LISTS rooms)
    if(within MATCHES "^${folder}/")
      list(FILTER sources EXCLUDE REGEX "^${within}/")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY HEED_ROOM_FOLDERS ${folder})
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  foreach(list room_ROOMS room_TEST_ROOMS)
    string(REPLACE "/" "_" ${list} "${${list}}")
    list(TRANSFORM ${list} PREPEND heed_)
  endforeach()

  add_library(heed_${name} STATIC ${sources})
  if(room_COMPUTES)
    set(kind COMPUTING_ROOMS)
    set(of_tests O1)
  else()
    set(kind OTHER_ROOMS)
    set(of_tests O0)
    target_compile_options(heed_${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  endif()
  target_compile_options(heed_${name} PRIVATE ${HEED_WARNINGS})
  target_compile_features(heed_${name} PUBLIC cxx_std_20)
  target_include_directories(heed_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(heed_${name} PUBLIC ${room_ROOMS} PRIVATE ${room_LIBRARIES} ${room_HEADER_LIBRARIES})
  set_target_properties(heed_${name} PROPERTIES HEED_LIBRARIES "${room_LIBRARIES}")
  # What most of its sources include of the standard library: a third of what a small source costs. The release preset goes without, and
  # so shows that each source includes what it uses.
  heed_precompile(${kind} heed_${name} <algorithm> <filesystem> <functional> <map> <memory> <optional> <span> <string> <vector>)

  if(HEED_BUILD_TESTS AND tests)
    add_executable(heed_${name}_test ${tests})
    target_link_libraries(heed_${name}_test PRIVATE heed_${name} ${room_TEST_ROOMS} ${room_LIBRARIES}
      ${room_HEADER_LIBRARIES} ${room_TEST_LIBRARIES})
    heed_test_program(heed_${name}_test ${of_tests})
    heed_discover_suites(heed_${name}_test ${folder}/)
  endif()
  if(HEED_BUILD_BENCH AND benches)
    add_executable(heed_${name}_bench ${benches})
    target_compile_options(heed_${name}_bench PRIVATE ${HEED_WARNINGS})
    target_link_libraries(heed_${name}_bench PRIVATE heed_${name} ${room_LIBRARIES} benchmark::benchmark_main)
  endif()
endfunction()
