# heed_embed(TARGET HEADER FILE...)
#
# Puts the bytes of each file into the library TARGET, as the constant that HEADER (heed/room/file.h) declares for it: page.css is
# `extern const std::string_view kPageCss;`. The build writes one source file for each; run as a script, this file does the writing.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(READ ${INPUT} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(REGEX REPLACE "(('[^']*',){24})" "\\1\n    " bytes "${bytes}")
  file(WRITE ${OUTPUT} "// Made from ${NAME} by the build.
#include \"${HEADER}\"

namespace heed {
namespace {
constexpr char ${CONSTANT}Bytes[] = {
    ${bytes}};
}  // namespace
constinit const std::string_view ${CONSTANT}(${CONSTANT}Bytes, sizeof ${CONSTANT}Bytes);
}  // namespace heed
")
  return()
endif()

set(HEED_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(heed_embed target header)
  foreach(input IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH input NORMALIZE)
    cmake_path(GET input FILENAME name)
    string(REGEX MATCHALL "[A-Za-z0-9]+" words ${name})
    set(constant k)
    foreach(word IN LISTS words)
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND constant ${first}${rest})
    endforeach()
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embed/${target}/${name}.cc)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DNAME=${name} -DHEADER=${header}
              -DCONSTANT=${constant} -P ${HEED_EMBED_SCRIPT}
      DEPENDS ${input} ${HEED_EMBED_SCRIPT} COMMENT "Embedding ${name}" VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endforeach()
endfunction()
