import { LoopTurns } from "./loop-turns.ts";

/** Bytes of bodies that are read in one turn of the event loop; reading them takes 2 ms of CPU. */
const turnBytesMax = 1024 * 1024;
/**
 * Most paused bodies that resume in one turn. Node reads up to 64 KiB at a time, so 16 make 1 MiB.
 */
const turnBodiesMax = 16;

interface Body {
  pause(): unknown;
  resume(): unknown;
}

/**
 * Shares the event loop between bodies that arrive together. Node reads all that has arrived on all
 * connections in one turn: 60 bodies of 1 MB delayed every other request by 130 ms. Once 1 MiB was
 * read in a turn, further bodies are paused until later turns, in which tenants alternate.
 */
export class ReadTurns {
  readonly #turns = new LoopTurns<Body>({
    begin: (body) => body.resume(),
    renew: () => (this.#bytes = 0),
    weightMax: turnBodiesMax,
  });
  #bytes = 0;

  /** Counts bytes read of a body, and pauses the body when the turn has read more than 1 MiB. */
  count(tenantId: string, body: Body, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > turnBytesMax) {
      body.pause();
      this.#turns.wait(tenantId, body);
    }
    this.#turns.schedule();
  }

  /** Removes a body that is no longer read. Does not resume it: that is up to the caller. */
  leave(tenantId: string, body: Body): void {
    this.#turns.leave(tenantId, body);
  }
}
