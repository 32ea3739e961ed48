/**
 * A headless Chromium for Linux on x86-64 that comes from npm: one archive for the program, one for the
 * libraries that a small system may lack. It is no dependency, so `npm ci` does not fetch its 70 MB.
 */
export const chromiumPin = {
  package: "@sparticuz/chromium",
  version: "153.0.0",
  /** Of the package's tarball, as the registry states it. */
  integrity: "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
  platform: "linux-x64",
  megabytes: 70,
} as const;
