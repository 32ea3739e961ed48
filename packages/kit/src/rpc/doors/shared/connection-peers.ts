import type { X509Certificate } from "node:crypto";
import type { Http2SecureServer, Http2Server } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { DomainError } from "../../../errors.ts";
import { type CertificateIdentity, identityOf } from "../../../tls/peer-identity.ts";
import type { ReportRefusal } from "./refusals.ts";

type Peer = CertificateIdentity & { readonly validToMs: number };

/**
 * The identities of the peers of a door's TLS connections, by the peer's address and port. A
 * certificate is parsed once for each connection, because parsing it costs as much as a short call.
 */
export class ConnectionPeers {
  readonly #peers = new Map<string, Peer>();
  /**
   * From TCP connection to its `address:port`. A TLS socket that was refused no longer has its
   * address.
   */
  readonly #addresses = new WeakMap<object, string>();
  readonly #report: ReportRefusal;

  constructor(servers: Iterable<Http2Server | Http2SecureServer>, report: ReportRefusal) {
    this.#report = report;
    for (const server of servers) {
      server.on("connection", (socket: Socket) => this.#addresses.set(socket, addressOf(socket)));
      server.on("secureConnection", (socket: TLSSocket) => this.#add(socket));
      server.on("tlsClientError", (error: Error, socket: TLSSocket) => this.#reportHandshake(error, socket));
    }
  }

  /**
   * @param address `address:port` of the caller
   * @param what the called method, for the report
   * @throws DomainError `unauthenticated`, reported, when the connection is not known, or when its
   * certificate has no identity or has expired since the handshake
   */
  identityOf(address: string, what: string): string {
    const peer = this.#peers.get(address);
    const fault = faultOf(peer);
    if (peer && fault === undefined && "identity" in peer) return peer.identity;
    const who = peer && "identity" in peer ? peer.identity : "nobody";
    const reason = fault ?? "its connection is not known";
    this.#report({ reason: "identity", who, peer: address, what: `${what}: ${reason}` });
    throw new DomainError("unauthenticated", `the caller is not known: ${reason}`);
  }

  #add(socket: TLSSocket): void {
    const address = addressOf(socket);
    const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
    const peer = toPeer(certificate);
    this.#peers.set(address, peer);
    socket.once("close", () => {
      // The address may already belong to a newer connection.
      if (this.#peers.get(address) === peer) this.#peers.delete(address);
    });
  }

  #reportHandshake(error: Error & { code?: string }, socket: TLSSocket): void {
    const what = String(socket.authorizationError ?? error.code ?? error.message);
    // Node keeps the TCP connection of a TLS socket in a private field.
    const connection: unknown = Reflect.get(socket, "_parent");
    const known = typeof connection === "object" && connection ? this.#addresses.get(connection) : undefined;
    this.#report({ reason: "handshake", who: "nobody", peer: known ?? addressOf(socket), what });
  }
}

function toPeer(certificate: X509Certificate | undefined): Peer {
  if (!certificate) return { fault: "it has no certificate", validToMs: 0 };
  return { ...identityOf(certificate), validToMs: certificate.validToDate.getTime() };
}

function faultOf(peer: Peer | undefined): string | undefined {
  if (!peer) return undefined;
  if ("fault" in peer) return peer.fault;
  return Date.now() >= peer.validToMs ? "its certificate has expired" : undefined;
}

/** `address:port`, as grpc-js writes it. */
export function addressOf(socket: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${socket.remoteAddress}:${socket.remotePort}`;
}
