/**
 * By default each large buffer makes glibc raise the size above which it returns freed memory to
 * the system, up to 64 MiB, and glibc has up to eight arenas for each core. operations.md,
 * "Memory", says what this costs. Other C libraries ignore these variables.
 */
const allocatorSettings = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: String(128 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(1024 * 1024),
};

/**
 * phrases also returns the buffers of 64 KiB in which imports arrive: among those that stay in the
 * heap glibc left 40 MiB of gaps. The console returns whatever it can, because it has few readers:
 * its memory matters more than its CPU.
 */
const ownSettings: Readonly<Record<string, typeof allocatorSettings>> = {
  phrases: { ...allocatorSettings, MALLOC_MMAP_THRESHOLD_: String(32 * 1024) },
  console: {
    MALLOC_ARENA_MAX: "1",
    MALLOC_MMAP_THRESHOLD_: String(32 * 1024),
    MALLOC_TRIM_THRESHOLD_: String(128 * 1024),
  },
};

/** Environment variables of glibc for a program. */
export function allocatorSettingsOf(program: string): Readonly<Record<string, string>> {
  return ownSettings[program] ?? allocatorSettings;
}
