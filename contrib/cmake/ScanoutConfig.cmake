# find_package(Scanout) defines the library Scanout::scanout.
get_filename_component(_scanout_prefix "${CMAKE_CURRENT_LIST_DIR}/@PREFIX@" ABSOLUTE)
if(NOT TARGET Scanout::scanout)
  add_library(Scanout::scanout SHARED IMPORTED)
  set_target_properties(Scanout::scanout PROPERTIES
    IMPORTED_LOCATION "${_scanout_prefix}/@LIBDIR@/libscanout.so.@ABI@"
    IMPORTED_SONAME "libscanout.so.@ABI@"
    INTERFACE_INCLUDE_DIRECTORIES "${_scanout_prefix}/include")
endif()
unset(_scanout_prefix)
