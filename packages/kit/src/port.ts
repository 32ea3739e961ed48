import type { AddressInfo } from "node:net";

export function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === "string") throw new TypeError("the server has no TCP address");
  return address.port;
}
