# Lets CMake find ROS 2 where it comes from PyPI's wheels: include it right after project().
#
# The wheels lie in the environment of the Python interpreter, carry include paths of the container that built them,
# and have generators for C++ that no Python program needs. Where ROS comes from anywhere else, this file changes nothing
# and PIP_ROS stays OFF.

set(PIP_ROS OFF)
if(NOT DEFINED Python3_EXECUTABLE)
  set(Python3_FIND_VIRTUALENV FIRST)
endif()
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/find")
find_package(Python3 QUIET COMPONENTS Interpreter Development.Module NumPy)

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
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL pip_ros_correct_include_paths)
else()
  list(POP_FRONT CMAKE_MODULE_PATH)
endif()

# Replaces include paths below /opt/python, which exist only in the wheels' build container, by this Python's own.
function(pip_ros_correct_include_paths)
  find_package(Python3 QUIET COMPONENTS Interpreter Development.Module NumPy)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(stated ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT stated MATCHES "/opt/python/")
      continue()
    endif()
    set(corrected "")
    foreach(path IN LISTS stated)
      if(EXISTS "${path}" OR NOT path MATCHES "^/opt/python/")
        list(APPEND corrected "${path}")
      elseif(path MATCHES "numpy")
        list(APPEND corrected ${Python3_NumPy_INCLUDE_DIRS})
      else()
        list(APPEND corrected ${Python3_INCLUDE_DIRS})
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${corrected}")
  endforeach()
endfunction()

set(PIP_ROS_GENERATOR "${CMAKE_CURRENT_LIST_DIR}/run_generator.py")

# Leaves out what only C++ programs need. Call it after all find_package() and before rosidl_generate_interfaces().
# introspection_c stays: Fast DDS registers the types from it.
macro(pip_ros_leave_out_cpp)
  if(PIP_ROS)
    list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
  endif()
endmacro()

# Runs rosidl's generators through run_generator.py, which is several times as fast. Call it after all find_package()
# and before rosidl_generate_interfaces(), which passes each variable on as a command and as a list of dependencies.
macro(pip_ros_speed_up_generators)
  foreach(generator IN ITEMS generator_type_description generator_c generator_py typesupport_c typesupport_fastrtps_c
                             typesupport_introspection_c)
    if(PIP_ROS AND EXISTS "${rosidl_${generator}_BIN}")
      set(rosidl_${generator}_BIN "${PIP_ROS_GENERATOR}" "${rosidl_${generator}_BIN}")
    endif()
  endforeach()
endmacro()

# Compiles the many small files of each library as one, as nearly all of their time goes into the same headers.
# The descriptions of types stay apart: they use the same names for different things. Call it after
# rosidl_generate_interfaces().
function(pip_ros_unite_sources package)
  if(NOT PIP_ROS)
    return()
  endif()
  foreach(library IN ITEMS generator_c generator_py typesupport_c typesupport_fastrtps_c typesupport_introspection_c)
    set(target "${package}__rosidl_${library}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 1000)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "__description\\.c$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
