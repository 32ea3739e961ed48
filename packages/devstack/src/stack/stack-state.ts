import { join } from "node:path";
import { configFaults } from "@vidimus/kit/service/process";
import { DevstackError } from "../errors.ts";
import { type DevJson, type DevTenant, type devAddresses, writeDevJson } from "./dev-json.ts";
import { endOfLog } from "./service-process.ts";
import type { SupervisorEvents } from "./supervisor.ts";

/** Exit code of a service whose setting is not usable: EX_CONFIG of sysexits.h. */
const configExitCode = 78;

export function logFile(stateDir: string, name: string): string {
  return join(stateDir, "logs", `${name}.log`);
}

/** Tracks the pids, and writes them to dev.json once the tenants are known. */
export class StackState implements SupervisorEvents {
  /** Rejects with DevstackError when a service refused its settings during the start. */
  readonly refused: Promise<never>;
  readonly #refused = Promise.withResolvers<never>();
  readonly addresses: ReturnType<typeof devAddresses>;
  readonly #stateDir: string;
  readonly #report: (line: string) => void;
  readonly #pids = new Map<string, number>();
  #published: Omit<DevJson, "pids"> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(stateDir: string, addresses: ReturnType<typeof devAddresses>, report: (line: string) => void) {
    this.refused = this.#refused.promise;
    this.refused.catch(() => {});
    this.#stateDir = stateDir;
    this.addresses = addresses;
    this.#report = report;
  }

  onStart(name: string, pid: number | undefined): void {
    if (pid !== undefined) this.#pids.set(name, pid);
    if (this.#published) {
      this.#report(`${name} runs again (pid ${pid})`);
      this.#write().catch((error: unknown) => this.#report(`dev.json cannot be written: ${messageOf(error)}`));
    }
  }

  onExit(name: string, { code, signal }: { code: number | null; signal: string | null }): void {
    this.#pids.delete(name);
    if (code === configExitCode && !this.#published) return void this.#refuse(name);
    this.#report(
      `${name} ended (${signal ?? `code ${code}`}), starting it again; its log is ${logFile(this.#stateDir, name)}`,
    );
  }

  /** Ends the start, because a restart does not help until a setting is changed. */
  async #refuse(name: string): Promise<void> {
    const [reason] = (await endOfLog(logFile(this.#stateDir, name))).split(configFaults).slice(-1);
    this.#refused.reject(new DevstackError(`${name} refuses to start: ${reason}`));
  }

  onFault(name: string, error: unknown): void {
    this.#report(`${name} could not be started again: ${messageOf(error)}`);
  }

  async publish(tenants: readonly DevTenant[], backing: Pick<DevJson, "mongodb" | "nats" | "tls">): Promise<DevJson> {
    this.#published = { ...this.addresses, ...backing, tenants };
    await this.#write();
    return this.#content(this.#published);
  }

  #content(published: Omit<DevJson, "pids">): DevJson {
    return { ...published, pids: Object.fromEntries(this.#pids) };
  }

  /** Writes run one after the other, so that the file ends with the latest state. */
  #write(): Promise<void> {
    this.#writing = this.#writeAfter(this.#writing);
    return this.#writing;
  }

  async #writeAfter(earlier: Promise<void>): Promise<void> {
    await earlier.catch(() => {});
    if (this.#published) await writeDevJson(this.#stateDir, this.#content(this.#published));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
