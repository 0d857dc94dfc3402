# Lets CMake find ROS 2 where it comes from PyPI's wheels: include it right after project().
#
# The wheels lie in the environment of the Python interpreter, carry include paths of the container that built them,
# and have generators for C++ that no Python program needs. Where ROS comes from anywhere else, this file changes nothing
# and PIP_ROS stays OFF.

set(PIP_ROS OFF)
if(NOT DEFINED Python3_EXECUTABLE)
  set(Python3_FIND_VIRTUALENV FIRST)
endif()
find_package(Python3 QUIET COMPONENTS Interpreter)

# The first rosidl_cmake on Python's path counts only when it belongs to the wheel: a sourced ROS comes before it.
set(_pip_ros_query [[
import importlib.metadata, pathlib, rosidl_cmake
here = pathlib.Path(rosidl_cmake.__file__).resolve()
wheel = importlib.metadata.distribution("ros-rosidl-cmake").locate_file("rosidl_cmake/__init__.py")
assert here == pathlib.Path(wheel).resolve()
print(here.parents[4], end="")
]])
execute_process(
  COMMAND "${Python3_EXECUTABLE}" -c "${_pip_ros_query}"
  OUTPUT_VARIABLE _pip_ros_prefix RESULT_VARIABLE _pip_ros_status ERROR_QUIET)

if(_pip_ros_status EQUAL 0 AND EXISTS "${_pip_ros_prefix}/share/rosidl_cmake/cmake")
  set(PIP_ROS ON)
  list(APPEND CMAKE_PREFIX_PATH "${_pip_ros_prefix}")
  if("$ENV{AMENT_PREFIX_PATH}" STREQUAL "")
    set(ENV{AMENT_PREFIX_PATH} "${_pip_ros_prefix}")
  elseif(NOT ":$ENV{AMENT_PREFIX_PATH}:" MATCHES ":${_pip_ros_prefix}:")
    set(ENV{AMENT_PREFIX_PATH} "$ENV{AMENT_PREFIX_PATH}:${_pip_ros_prefix}")
  endif()
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL pip_ros_mend_include_paths)
endif()

# Replaces include paths below /opt/python, which exist only in the wheels' build container, by this Python's own.
function(pip_ros_mend_include_paths)
  find_package(Python3 QUIET COMPONENTS Interpreter Development.Module NumPy)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(stated ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT stated MATCHES "/opt/python/")
      continue()
    endif()
    set(mended "")
    foreach(path IN LISTS stated)
      if(EXISTS "${path}" OR NOT path MATCHES "^/opt/python/")
        list(APPEND mended "${path}")
      elseif(path MATCHES "numpy")
        list(APPEND mended ${Python3_NumPy_INCLUDE_DIRS})
      else()
        list(APPEND mended ${Python3_INCLUDE_DIRS})
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${mended}")
  endforeach()
endfunction()

# Leaves out what only C++ programs need. Call it after all find_package() and before rosidl_generate_interfaces().
# introspection_c stays: Fast DDS registers the types from it.
macro(pip_ros_leave_out_cpp)
  if(PIP_ROS)
    list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
  endif()
endmacro()

# Compiles the many small C++ files of the type supports as one. Call it after rosidl_generate_interfaces().
function(pip_ros_unite_sources package)
  if(PIP_ROS)
    set_target_properties(
      ${package}__rosidl_typesupport_fastrtps_c ${package}__rosidl_typesupport_c
      PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 100)
  endif()
endfunction()
