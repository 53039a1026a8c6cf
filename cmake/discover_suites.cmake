# cmake -D PROGRAM=... -D PREFIX=... -D OUT=... -P discover_suites.cmake: writes the tests of a program of GoogleTest for ctest, one of each
# suite, whose tests share a process: two thousand starts of a program that links what heed stands on take as long as many of the tests. The
# instances of suites named Part/... or Shard/... are one each, so that they run side by side.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE " *#[^\n]*" "" listed "${listed}")  # values of parameters
string(REGEX MATCHALL "[^\n]+" lines "${listed}")

string(REGEX REPLACE "/$" "" label ${PREFIX})
set(tests "")
function(add name filter)
  string(APPEND tests "add_test([=[${PREFIX}${name}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${filter}]=])\n"
                      "set_tests_properties([=[${PREFIX}${name}]=] PROPERTIES TIMEOUT 1500 LABELS [=[${label}]=])\n")
  set(tests "${tests}" PARENT_SCOPE)
endfunction()
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)\\.$")
    set(suite ${CMAKE_MATCH_1})
    string(REGEX MATCH "^(Part|Shard)/" apart ${suite})
    if(NOT apart)
      add(${suite} ${suite}.*)
    endif()
  elseif(apart AND line MATCHES "^  ([^ ]+)$")
    add(${suite}.${CMAKE_MATCH_1} ${suite}.${CMAKE_MATCH_1})
  endif()
endforeach()
file(WRITE ${OUT} "${tests}")
