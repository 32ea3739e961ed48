import type { GatewayConfig } from "../../src/config.ts";
import { FakeDocuments, serve } from "./fake-documents.ts";
import { type RawOptions, rawText } from "./raw-request.ts";
import { newKey, openGateway } from "./start-gateway.ts";

export type Edge = Awaited<ReturnType<typeof openEdge>>;

/** A gateway before a fake documents service, and a key of the tenant "acme" with every scope. */
export async function openEdge(settings: Partial<GatewayConfig> = {}) {
  const documents = new FakeDocuments();
  const rpc = await serve(documents.routes());
  const gateway = await openGateway({ documentsTarget: `127.0.0.1:${rpc.port}`, ...settings });
  const key = await newKey(gateway.access, "acme");
  return {
    documents,
    gateway,
    key,
    /** Writes bytes to the public port; returns what comes back until the connection ends. */
    raw: (text: string | Buffer, options?: RawOptions) => rawText(gateway.httpPort, text, options),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await rpc[Symbol.asyncDispose]();
    },
  };
}
