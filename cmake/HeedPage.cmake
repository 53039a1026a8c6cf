# heed_page(OUTPUT FOLDER)
#
# Makes page.js, the page's whole script, of the modules in FOLDER, main.js first, with page.css inside, and page.sha256, by which the
# page's content policy knows the script; sets OUTPUT to the two files. esbuild (Debian's package) bundles and minifies. Run as a script,
# this file writes the hash.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  # A content policy wants base64: three bytes, six hexadecimal digits, are four letters.
  file(SHA256 ${INPUT} digits)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(base64)
  string(APPEND digits "00")  # of 33 bytes the last is padding
  foreach(at RANGE 0 60 6)
    string(SUBSTRING ${digits} ${at} 6 three_bytes)
    foreach(shift 18 12 6 0)
      math(EXPR letter "(0x${three_bytes} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${letter} 1 letter)
      string(APPEND base64 ${letter})
    endforeach()
  endforeach()
  string(REGEX REPLACE ".$" "=" base64 ${base64})
  file(WRITE ${OUTPUT} "sha256-${base64}")
  return()
endif()

set(HEED_PAGE_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(heed_page output folder)
  find_program(HEED_ESBUILD esbuild)
  mark_as_advanced(HEED_ESBUILD)
  if(NOT HEED_ESBUILD)
    message(FATAL_ERROR "heed needs esbuild, which bundles the script of the page: script/setup installs Debian's package")
  endif()
  cmake_path(ABSOLUTE_PATH folder NORMALIZE)
  file(GLOB_RECURSE parts CONFIGURE_DEPENDS ${folder}/*.js ${folder}/*.css)
  list(FILTER parts EXCLUDE REGEX "/tests/")
  set(made ${CMAKE_CURRENT_BINARY_DIR}/page)
  set(style ${made}/page.css)
  set(script ${made}/page.js)
  # main.js takes the style as text, from the module "heed-style".
  add_custom_command(OUTPUT ${script} ${style}
    COMMAND ${HEED_ESBUILD} ${folder}/page.css --bundle --minify --charset=utf8 --log-level=warning --outfile=${style}
    COMMAND ${HEED_ESBUILD} ${folder}/main.js --bundle --minify --charset=utf8 --log-level=warning --outfile=${script}
            --format=iife --target=es2022 --alias:heed-style=${style} --loader:.css=text
    DEPENDS ${parts} COMMENT "Bundling the page's script" VERBATIM)
  add_custom_command(OUTPUT ${made}/page.sha256
    COMMAND ${CMAKE_COMMAND} -DINPUT=${script} -DOUTPUT=${made}/page.sha256 -P ${HEED_PAGE_SCRIPT}
    DEPENDS ${script} ${HEED_PAGE_SCRIPT} VERBATIM)
  set(${output} ${script} ${made}/page.sha256 PARENT_SCOPE)
endfunction()
