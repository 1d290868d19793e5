include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/quipu")

install(TARGETS quipu EXPORT quipu_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quipu" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING REGEX "\\.(h|hpp)$")
install(EXPORT quipu_targets NAMESPACE quipu:: FILE quipuTargets.cmake
  DESTINATION "${package_dir}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/quipuConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/quipuConfig.cmake" INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/quipuConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/quipuConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/quipuConfigVersion.cmake"
  DESTINATION "${package_dir}")

# The prefix of `cmake --install --prefix` is not known here: the file finds it from its own place.
file(RELATIVE_PATH QUIPU_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" QUIPU_PC_PREFIX "${QUIPU_PC_PREFIX}")
# Users of a static library link what it needs; a shared one has it linked already.
if(BUILD_SHARED_LIBS)
  set(QUIPU_PC_REQUIRES "Requires.private")
else()
  set(QUIPU_PC_REQUIRES "Requires")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/quipu.pc.in" "${PROJECT_BINARY_DIR}/package/quipu.pc"
  @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/quipu.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

if(TARGET quipu_cli)
  install(TARGETS quipu_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES "${PROJECT_SOURCE_DIR}/docs/quipu.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${PROJECT_SOURCE_DIR}/completions/quipu.bash"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME quipu)
  install(FILES "${PROJECT_SOURCE_DIR}/completions/_quipu"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${PROJECT_SOURCE_DIR}/completions/quipu.fish"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()
