/**
 * The five services in the order of their start: a service starts after those that it calls, except
 * that signing calls documents, for audits only, and that documents, phrases and delivery call the
 * gateway, for the tenants.
 */
export const serviceNames = ["signing", "documents", "phrases", "delivery", "gateway"] as const;

export type ServiceName = (typeof serviceNames)[number];

/** The services, and the console, which calls the teams doors of all but signing. */
export const programNames = [...serviceNames, "console"] as const;

export type ProgramName = (typeof programNames)[number];

/** Ports of one service on 127.0.0.1; in tests 0 stands for any free one. */
export interface ServicePorts {
  /** The teams door; signing's is its admin door. */
  readonly grpc: number;
  readonly mesh: number;
  readonly ops: number;
  /** Public HTTP port, used by the gateway only. */
  readonly http?: number;
}
