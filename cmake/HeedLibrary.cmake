# heed_library(NAME [ON library] EXPORT name EXPORT_SET set UMBRELLA header ROOMS rooms...)
#
# A library that users link, lib/libNAME, made of the objects of rooms; static, or shared where BUILD_SHARED_LIBS is on. In the tree
# and when installed it is heed::EXPORT. ON is the library below it. Its headers are those that UMBRELLA reaches.
include(${CMAKE_CURRENT_LIST_DIR}/HeedPublicHeaders.cmake)

function(heed_library name)
  cmake_parse_arguments(library "" "ON;EXPORT;EXPORT_SET;UMBRELLA" "ROOMS" ${ARGN})
  set(target ${name}_library)
  string(REPLACE "/" "_" library_ROOMS "${library_ROOMS}")
  set(objects)
  set(libraries)
  foreach(room IN LISTS library_ROOMS)
    list(APPEND objects $<TARGET_OBJECTS:heed_${room}>)
    get_target_property(of_room heed_${room} HEED_LIBRARIES)
    list(APPEND libraries ${of_room})
  endforeach()
  list(REMOVE_DUPLICATES libraries)
  add_library(${target} ${objects})
  add_library(heed::${library_EXPORT} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC ${library_ON} PRIVATE ${libraries})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${name} EXPORT_NAME ${library_EXPORT}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN"
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  if(HEED_INSTALL)
    install(TARGETS ${target} EXPORT ${library_EXPORT_SET})
    install(EXPORT ${library_EXPORT_SET} NAMESPACE heed:: DESTINATION ${HEED_PACKAGE_DIR})
    heed_install_public_headers(${library_UMBRELLA})
  endif()
endfunction()
