# heed_install_public_headers(UMBRELLA)
#
# Installs UMBRELLA (heed/heed.h), the headers that it includes, those that they include, and so on. This is what makes a header public;
# all others stay in the tree. Headers change without a new configuration, so they are looked up when installing: run as a script, this
# file does that.
if(CMAKE_SCRIPT_MODE_FILE AND HEED_UMBRELLA)
  cmake_policy(VERSION 3.25)
  set(found)
  set(waiting ${HEED_UMBRELLA})
  while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST found)
      continue()
    endif()
    list(APPEND found ${header})
    file(STRINGS ${HEED_SOURCE_DIR}/${header} lines REGEX "^#include \"heed/")
    string(REGEX REPLACE "#include \"([^\"]*)\"[^;]*" "\\1" lines "${lines}")
    list(APPEND waiting ${lines})
  endwhile()
  foreach(header IN LISTS found)
    cmake_path(GET header PARENT_PATH folder)
    file(INSTALL ${HEED_SOURCE_DIR}/${header} DESTINATION "${HEED_INCLUDE_DIR}/${folder}")
  endforeach()
  return()
endif()

set(HEED_PUBLIC_HEADERS_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(heed_install_public_headers umbrella)
  set(include_dir ${CMAKE_INSTALL_INCLUDEDIR})
  cmake_path(ABSOLUTE_PATH include_dir BASE_DIRECTORY [[${CMAKE_INSTALL_PREFIX}]])
  install(CODE "
    set(HEED_UMBRELLA ${umbrella})
    set(HEED_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")
    set(HEED_INCLUDE_DIR \"${include_dir}\")
    include(\"${HEED_PUBLIC_HEADERS_SCRIPT}\")
    unset(HEED_UMBRELLA)")
endfunction()
