# Makes an interface package of src/ros_underlay from its files in msg/, srv/ and action/. Include it right after
# project(), then call underlay_package() with the packages whose interfaces it uses.

include("${CMAKE_CURRENT_LIST_DIR}/pip_ros.cmake")
file(
  GLOB interfaces
  RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
  CONFIGURE_DEPENDS msg/*.msg srv/*.srv action/*.action)

# A macro, as find_package() and ament_package() set variables of the caller. `interfaces` may be changed before.
macro(underlay_package)
  find_package(ament_cmake REQUIRED)
  find_package(rosidl_default_generators REQUIRED)
  set(used_packages ${ARGN})
  foreach(used IN LISTS used_packages)
    find_package(${used} REQUIRED)
  endforeach()
  if(PIP_ROS)
    pip_ros_leave_out_cpp()
    pip_ros_speed_up_generators()
  endif()
  rosidl_generate_interfaces(${PROJECT_NAME} ${interfaces} DEPENDENCIES ${used_packages})
  if(PIP_ROS)
    pip_ros_unite_sources(${PROJECT_NAME})
  endif()
  ament_export_dependencies(rosidl_default_runtime)
  ament_package()
endmacro()
