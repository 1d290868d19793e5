# include/quipu/version.h is a plain file, so that it can be read and included without a build. It
# must say what project() says.
file(STRINGS "${PROJECT_SOURCE_DIR}/include/quipu/version.h" line REGEX "kVersion")
if(NOT line MATCHES "\"${PROJECT_VERSION}\"")
  message(FATAL_ERROR "include/quipu/version.h and project(VERSION ${PROJECT_VERSION}) differ: ${line}")
endif()
