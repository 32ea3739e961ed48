import { create, toBinary } from "@bufbuild/protobuf";
import { ImportPhrasesRequestSchema } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { connect } from "node:http2";
import { expect, it, vi } from "vitest";
import { patient } from "../testing/patient.ts";
import { collectGarbage } from "../testing/collect-garbage.ts";
import { cleanUp, mesh, mib, serve, untilCancelled } from "../rpc/testing/doors.ts";

const calls = 4;
const contentBytes = 8 * mib;

/**
 * Sends a request with Node's HTTP/2, whose client keeps no copy of the request in memory, and
 * leaves the call open.
 */
function sendImport(session: ReturnType<typeof connect>): void {
  const message = toBinary(
    ImportPhrasesRequestSchema,
    create(ImportPhrasesRequestSchema, { tenantId: "demo", content: Buffer.alloc(contentBytes) }),
  );
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const path = "/vidimus.phrases.v1.PhraseService/ImportPhrases";
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => {}).resume();
  stream.write(head);
  stream.end(message);
}

it("the memory of a request's content can be freed during the call once the handler has dropped it", async () => {
  const releases: (() => void)[] = [];
  const { port } = await serve(mesh, {
    importPhrases: (request, context) => {
      releases.push(() => (request.content = new Uint8Array()));
      return untilCancelled(context);
    },
  });
  const session = connect(`http://127.0.0.1:${port}`);
  cleanUp(() => session.destroy());
  const heldBytes = async () => {
    await collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const before = await heldBytes();
  for (let call = 0; call < calls; call += 1) sendImport(session);
  await vi.waitFor(() => expect(releases).toHaveLength(calls), patient);
  const running = (await heldBytes()) - before;
  expect(running).toBeLessThan(calls * (contentBytes + mib));
  for (const release of releases) release();
  expect((await heldBytes()) - before).toBeLessThan(contentBytes);
});
