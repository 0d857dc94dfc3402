# Answers find_package(Python3) from an earlier answer with the same components: each search starts Python several
# times, and the ROS wheels search once for each generator.

set(_found_before "${Python3_FOUND}")
foreach(component IN LISTS Python3_FIND_COMPONENTS)
  if(NOT Python3_${component}_FOUND)
    set(_found_before FALSE)
  endif()
endforeach()

if(NOT _found_before)
  include("${CMAKE_ROOT}/Modules/FindPython3.cmake")
endif()
