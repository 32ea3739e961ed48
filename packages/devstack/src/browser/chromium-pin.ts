/** A package of npm with a Chromium for one platform. */
export interface ChromiumPin {
  readonly package: string;
  readonly version: string;
  /** Hash of the package's tarball, as the registry states it. */
  readonly integrity: string;
  /** `${process.platform}-${process.arch}` */
  readonly platform: string;
  readonly megabytes: number;
}

/**
 * A headless Chromium for Linux on x86-64 from npm, with libraries and fonts that a small system
 * may lack. The package is no dependency, so that `npm ci` does not fetch its 70 MB.
 */
export const chromiumPin: ChromiumPin = {
  package: "@sparticuz/chromium",
  version: "153.0.0",
  integrity: "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
  platform: "linux-x64",
  megabytes: 70,
};
