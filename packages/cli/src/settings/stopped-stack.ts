import { connect } from "node:net";
import { CliError } from "../cli-error.ts";
import type { DevStack } from "./dev-stack.ts";
import type { SettingName } from "./setting-rules.ts";
import type { Settings } from "./settings.ts";

/** The dev stack from which a setting comes is not running, so every other call would fail, too. */
export class StoppedStackError extends CliError {
  /** What was found, without what to do about it. */
  readonly finding: string;

  constructor(what: string, file: string) {
    const finding = `${what} does not answer: the dev stack of ${file} is not running`;
    super(`${finding}. Start it with \`npm start\`.`);
    this.finding = finding;
  }
}

/** Longest wait for a connection; enough because a dev stack is on this machine. */
const connectMsMax = 1_000;

/**
 * Tells a stopped dev stack from one of which only a part is away: in a stopped one neither the
 * gateway's public port nor a teams door listens.
 *
 * @param at the setting with the address that did not answer
 * @param what the part that did not answer, for the message
 * @returns undefined when the setting is not a dev stack's, or something listens
 */
export async function findStoppedStack(
  settings: Settings,
  at: SettingName,
  what: string,
): Promise<StoppedStackError | undefined> {
  const stack = settings.devStackOf(at);
  if (!stack || (await Promise.all(addressesOf(stack).map(listens))).includes(true)) return undefined;
  return new StoppedStackError(what, stack.file);
}

function addressesOf({ addresses }: DevStack): { host: string; port: number }[] {
  const { gateway = "", access, documents, phrases, delivery } = addresses;
  const urls = [
    gateway,
    ...[access, documents, phrases, delivery].flatMap((target) => (target ? `http://${target}` : [])),
  ];
  return urls.flatMap((text) => {
    const url = URL.parse(text);
    return url ? { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 80) } : [];
  });
}

function listens({ host, port }: { host: string; port: number }): Promise<boolean> {
  const socket = connect({ host, port, timeout: connectMsMax });
  return new Promise((settle) => {
    const end = (answer: boolean) => {
      socket.destroy();
      settle(answer);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
    // A part that does not answer in time may be busy, so it does not count as stopped.
    socket.once("timeout", () => end(true));
  });
}
