import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Metadata, ServerUnaryCall } from "@grpc/grpc-js";
import { isSampled, type Span, type Tracing } from "../../../telemetry/tracing/tracing.ts";
import { callContextKey, parseTraceparent, readCallContext } from "../../context/call-context.ts";
import type { CallObserver, EndedCall } from "../../context/call-observer.ts";
import { startServerSpan } from "../../context/call-span.ts";
import { toConnectError } from "../../errors/error-table.ts";
import type { MeshGuard } from "./mesh-guard.ts";
import { itemFaultOf } from "../../errors/item-fault.ts";
import { toHeaders, responseMetadata } from "../../wire/metadata.ts";
import type { ReceivedMessage } from "../../../tuning/received-message.ts";

/** Settings and state that all calls of a mesh door share. */
export interface MeshDoor {
  readonly observe: CallObserver;
  /** Deadline of unary calls without one. */
  readonly defaultTimeoutMs: number;
  /** A stream whose caller takes no message for so long is ended. */
  readonly stalledMs: number;
  /** Undefined while tracing is off. */
  readonly tracing: Tracing | undefined;
  /** Undefined on a plaintext door, where every caller may call everything. */
  readonly guard: MeshGuard | undefined;
  readonly running: Set<MeshCall>;
}

/** The part of a grpc-js call that unary and streaming calls share. */
interface WireCall extends Pick<
  ServerUnaryCall<ReceivedMessage, Buffer>,
  "metadata" | "getDeadline" | "getPath" | "getPeer" | "sendMetadata"
> {
  once(event: "cancelled", listener: () => void): unknown;
}

/** Abort reason of the signals of answered calls. Made once: its stack trace costs 5 µs. */
let answered: ConnectError | undefined;
const reasonOfAnswered = () => (answered ??= new ConnectError("the call has ended", Code.Canceled));

/**
 * One call on the mesh door. It is the handler's context, and ends exactly once: by an answer, a
 * failure, the deadline, a cancellation, or the server's stop.
 *
 * Headers, context values and signal are made at their first use, because some short and
 * frequent handlers use none.
 */
export class MeshCall implements HandlerContext, EndedCall {
  readonly protocolName = "grpc";
  readonly requestMethod = "POST";
  readonly method: DescMethod;
  readonly startedMs = performance.now();
  readonly span: Span | undefined;
  request: unknown;
  hasEnded = false;
  readonly #wire: WireCall;
  readonly #door: MeshDoor;
  readonly #sendFailure: (error: ConnectError) => void;
  readonly #deadline: number;
  readonly #timer: NodeJS.Timeout | undefined;
  #identity = "";
  #outcome: ConnectError | undefined;
  #abort: AbortController | undefined;
  #values: ContextValues | undefined;
  #requestHeader: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor(method: DescMethod, wire: WireCall, door: MeshDoor, sendFailure: (error: ConnectError) => void) {
    this.method = method;
    this.#wire = wire;
    this.#door = door;
    this.#sendFailure = sendFailure;
    this.span = door.tracing && startSpan(door.tracing, method, wire);
    this.#deadline = Number(wire.getDeadline());
    const isUnary = method.methodKind === "unary";
    // grpc-js enforces the deadlines of callers itself: it answers, and then emits "cancelled". For
    // a stream it does so only once the caller has read all messages, so streams get a timer here.
    if (this.#deadline === Infinity && isUnary) {
      this.#deadline = Date.now() + door.defaultTimeoutMs;
      this.#timer = setTimeout(() => this.fail(deadlinePassed()), door.defaultTimeoutMs);
    } else if (this.#deadline !== Infinity && !isUnary) {
      this.#timer = setTimeout(() => this.end(deadlinePassed()), this.#deadline - Date.now());
    }
    wire.once("cancelled", () => this.#onCancelled());
    door.running.add(this);
  }

  /**
   * Sets the caller's identity. Throws what the guard throws when it refuses the caller. Must run
   * before the handler.
   */
  admit(): void {
    if (this.#door.guard) this.#identity = this.#door.guard.admit(this.method, this.#wire.getPeer());
  }

  get service() {
    return this.method.parent;
  }

  get url(): string {
    return this.#wire.getPath();
  }

  get timeoutMs(): () => number | undefined {
    return () => (this.#deadline === Infinity ? undefined : this.#deadline - Date.now());
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.hasEnded) this.#abort.abort(this.#outcome ?? reasonOfAnswered());
    return this.#abort.signal;
  }

  get values(): ContextValues {
    const get = (name: string) => this.#wire.metadata.get(name)[0]?.toString() ?? null;
    return (this.#values ??= createContextValues().set(
      callContextKey,
      readCallContext({ get }, { identity: this.#identity }, this.span?.traceparent),
    ));
  }

  get itemFault(): unknown {
    return itemFaultOf(this.#values);
  }

  get requestHeader(): Headers {
    return (this.#requestHeader ??= toHeaders(this.#wire.metadata));
  }

  get responseHeader(): Headers {
    return (this.#responseHeader ??= new Headers());
  }

  get responseTrailer(): Headers {
    return (this.#responseTrailer ??= new Headers());
  }

  /** The metadata of `responseTrailer`; undefined when the handler did not use it. */
  get trailer(): Metadata | undefined {
    return this.#responseTrailer && responseMetadata(this.#responseTrailer);
  }

  /** Headers that the handler sets after this are not sent. */
  sendHeader(): void {
    if (!this.#responseHeader) return;
    this.#wire.sendMetadata(responseMetadata(this.#responseHeader));
    this.#responseHeader = undefined;
  }

  fail(error: unknown): void {
    if (this.hasEnded) return;
    const outcome = toConnectError(error);
    if (this.end(outcome)) this.#sendFailure(outcome);
  }

  /**
   * Ends the call and sends its headers, but no answer. Returns true only the first time: who gets
   * true then sends the answer. After a cancellation or a stream's deadline the door sends none.
   */
  end(outcome?: ConnectError): boolean {
    if (this.hasEnded) return false;
    this.hasEnded = true;
    this.#outcome = outcome;
    clearTimeout(this.#timer);
    this.#door.running.delete(this);
    this.#door.observe(this, outcome);
    this.sendHeader();
    this.#abort?.abort(outcome ?? reasonOfAnswered());
    return true;
  }

  /** grpc-js emits "cancelled" after every call, also after answered ones. */
  #onCancelled(): void {
    if (this.hasEnded) return;
    this.end(Date.now() >= this.#deadline ? deadlinePassed() : new ConnectError("the caller left", Code.Canceled));
  }
}

/**
 * Calls without a traceparent are made by the services on their own, for example polls. They belong
 * to no trace and must not begin one.
 */
function startSpan(tracing: Tracing, method: DescMethod, { metadata }: WireCall): Span | undefined {
  const parent = parseTraceparent(metadata.get("traceparent")[0]?.toString());
  return isSampled(parent) ? startServerSpan(tracing, { method, parent }) : undefined;
}

const deadlinePassed = () => new ConnectError("the deadline passed", Code.DeadlineExceeded);
