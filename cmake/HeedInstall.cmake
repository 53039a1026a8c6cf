# The package: what find_package(heed) and pkg-config read. The libraries and headers are installed by heed_library.
include(CMakePackageConfigHelpers)
if(HEED_BUILD_MODELS)
  set(HEED_COMPONENTS attention models)
else()
  set(HEED_COMPONENTS attention)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/heedConfig.cmake.in ${PROJECT_BINARY_DIR}/heedConfig.cmake
  INSTALL_DESTINATION ${HEED_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heedConfig.cmake ${PROJECT_BINARY_DIR}/heedConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/HeedDependencies.cmake DESTINATION ${HEED_PACKAGE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# heed_pkg_config(NAME DESCRIPTION REQUIRES LIBS): NAME.pc, which says where it lies by its own place, so that a prefix may be moved.
# What a static library needs besides itself is named for all: there is no other library to link. A shared one needs nothing.
function(heed_pkg_config name description requires libs)
  set(to ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  foreach(folder PREFIX LIBDIR INCLUDEDIR)
    set(path ${CMAKE_INSTALL_PREFIX})
    if(NOT folder STREQUAL "PREFIX")
      set(path ${CMAKE_INSTALL_FULL_${folder}})
    endif()
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${to} OUTPUT_VARIABLE ${folder})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/heed.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

if(BUILD_SHARED_LIBS)
  heed_pkg_config(heed-attention "Attention, in C++20" "" "-lheed_attention")
  heed_pkg_config(heed "Attention, in C++20, with the models that use it" "heed-attention" "-lheed")
else()
  heed_pkg_config(heed-attention "Attention, in C++20" "fmt" "-lheed_attention -pthread")
  heed_pkg_config(heed "Attention, in C++20, with the models that use it" "heed-attention sentencepiece cairo pangocairo libutf8proc libpcre2-8 libpng libjpeg libzip" "-lheed -ldnnl -lgomp")
endif()
