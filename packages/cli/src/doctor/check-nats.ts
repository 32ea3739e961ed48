import { connect } from "node:net";
import { messageOf } from "../cli-error.ts";
import { isJsonObject } from "../json-object.ts";
import { answerMsMax } from "./fetch-page.ts";
import { broken, type Finding, ok, unchecked } from "./finding.ts";
import { atLeast } from "./version.ts";

const versionMin = "2.10.0";
const infoCharactersMax = 65_536;

/**
 * Reads from each nats-server the INFO that it sends to every connection. Credentials are not
 * tried.
 */
export async function checkNats(urls: string | undefined): Promise<Finding[]> {
  if (!urls) return [unchecked("nats", "Pass VIDIMUS_NATS (in the environment: it may hold a password).")];
  return Promise.all(urls.split(",").map((url) => checkServer(url.trim())));
}

async function checkServer(url: string): Promise<Finding> {
  const parsed = URL.parse(url.includes("://") ? url : `nats://${url}`);
  if (!parsed) return broken("nats", "one of the URLs cannot be read", "See NATS_URL of the services.");
  const address = `${parsed.hostname}:${parsed.port || "4222"}`;
  const check = `nats ${address}`;
  try {
    return checkVersion(check, await readInfo(parsed.hostname, Number(parsed.port || 4222)));
  } catch (error) {
    const remedy =
      "Is it running, and may this machine reach it? Meanwhile nothing is lost: delivery finds what is due by itself.";
    return broken(check, messageOf(error), remedy);
  }
}

function checkVersion(check: string, { version, jetstream }: Readonly<Record<string, unknown>>): Finding {
  const found = String(version);
  if (!atLeast(found, versionMin)) return broken(check, `${found} is older than ${versionMin}`, "Upgrade nats-server.");
  if (jetstream === true) return ok(check, `${found} with JetStream`);
  return broken(check, `${found} without JetStream`, "Start it with -js, or jetstream {} in its configuration.");
}

async function readInfo(host: string, port: number): Promise<Readonly<Record<string, unknown>>> {
  const signal = AbortSignal.timeout(answerMsMax);
  const socket = connect({ host: host.replace(/^\[|\]$/g, ""), port, signal });
  let text = "";
  try {
    for await (const chunk of socket.setEncoding("utf8")) {
      text += String(chunk);
      if (text.includes("\n") || text.length > infoCharactersMax) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Error(`no greeting within ${answerMsMax / 1000} s`, { cause: error });
  }
  const info = parseInfo(text);
  if (!isJsonObject(info)) throw new Error("what answers there is no nats-server");
  return info;
}

function parseInfo(greeting: string): unknown {
  try {
    return JSON.parse(/^INFO (\{.*\})/.exec(greeting)?.[1] ?? "null");
  } catch {
    return undefined;
  }
}
