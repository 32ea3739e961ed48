import { DevstackError } from "../errors.ts";
import { pickFreePort } from "../port-guard.ts";
import { type ServiceName, serviceNames, type ServicePorts } from "./program-names.ts";

/** From service to its number of processes. A service that is not named has one. */
export type ReplicaCounts = Readonly<Partial<Record<ServiceName, number>>>;

/** A process of a service besides its first one. */
export interface Replica {
  /** `documents-2`, `documents-3`, …; the first process has the name of its service. */
  readonly name: string;
  readonly service: ServiceName;
  readonly ports: ServicePorts;
}

const countMax = 9;

/**
 * Reads `documents=3,gateway=2`.
 *
 * @throws DevstackError when a service is unknown or named twice, or a count is not from 1 to 9
 */
export function parseReplicas(text: string): ReplicaCounts {
  const counts: Partial<Record<ServiceName, number>> = {};
  for (const part of text.split(",")) {
    const [, written, digits] = /^([a-z]+)=([1-9])$/.exec(part.trim()) ?? [];
    const service = serviceNames.find((name) => name === written);
    if (service === undefined || counts[service] !== undefined) throw malformed(part);
    counts[service] = Number(digits);
  }
  return counts;
}

function malformed(part: string): DevstackError {
  const form = `SERVICE=COUNT,… with each of ${serviceNames.join(", ")} once at most, and 1 to ${countMax}`;
  return new DevstackError(`--replicas must be ${form}; "${part}" is not`);
}

/** Chooses free ports for all processes besides the first of each service. */
export async function planReplicas(counts: ReplicaCounts): Promise<Replica[]> {
  const replicas: Replica[] = [];
  for (const service of serviceNames) {
    for (let number = 2; number <= (counts[service] ?? 1); number += 1) {
      replicas.push({ name: `${service}-${number}`, service, ports: await pickPorts(service) });
    }
  }
  return replicas;
}

async function pickPorts(service: ServiceName): Promise<ServicePorts> {
  const [grpc, mesh, ops] = [await pickFreePort(), await pickFreePort(), await pickFreePort()];
  return service === "gateway" ? { grpc, mesh, ops, http: await pickFreePort() } : { grpc, mesh, ops };
}
