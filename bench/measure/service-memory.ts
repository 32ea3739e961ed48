import type { ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { residentMiB, watchMemory } from "./resident-memory.ts";

/** The services that the attacks of `neighbours` burden. */
export const watchedServices = ["gateway", "documents", "phrases"] as const;

type WatchedService = (typeof watchedServices)[number];

/** Resident memory of a service, in MiB. */
interface ServiceMemory {
  readonly idle: number;
  readonly peak: number;
  readonly later: number;
  /** Whether the process that was watched has ended, restarted or not. */
  readonly hasDied: boolean;
}

export type ServicesMemory = Readonly<Record<WatchedService, ServiceMemory>>;

interface ServicesWatch {
  /** Ends the search for the peak. */
  stop(): void;
  /** Reads the memory once more, as `later`; call this after `stop`. */
  read(): Promise<ServicesMemory>;
}

export async function watchServices(constellation: ProcessConstellation): Promise<ServicesWatch> {
  const { pids } = await constellation.current();
  const watched = await Promise.all(watchedServices.map((name) => watchService(constellation, name, pids[name])));
  return {
    stop: () => watched.forEach(({ stop }) => stop()),
    read: async () => {
      const entries = watched.map(async ({ name, read }) => [name, await read()] as const);
      return Object.fromEntries(await Promise.all(entries)) as ServicesMemory;
    },
  };
}

async function watchService(constellation: ProcessConstellation, name: WatchedService, pid: number | undefined) {
  if (pid === undefined) throw new Error(`no ${name} runs`);
  const idle = await residentMiB(pid);
  const watch = watchMemory(pid);
  return {
    name,
    stop: () => void watch.peakMiB(),
    async read(): Promise<ServiceMemory> {
      const now = (await constellation.current()).pids[name];
      const later = now === undefined ? 0 : await residentMiB(now);
      return { idle, peak: await watch.peakMiB(), later, hasDied: now !== pid };
    },
  };
}
