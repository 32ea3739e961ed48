import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { once } from "node:events";
import { connect } from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { cleanUp, numberIn, phrase, serve, teams } from "../../testing/doors.ts";

describe("the teams door", () => {
  it.each([
    ["gRPC", createGrpcTransport],
    ["gRPC-Web", createGrpcWebTransport],
    ["Connect", createConnectTransport],
  ] as const)("answers %s over plaintext HTTP/2", async (_name, createTransport) => {
    const { port } = await serve(teams, { upsertPhrase: () => phrase(1) });
    const transport = createTransport({ baseUrl: `http://127.0.0.1:${port}`, httpVersion: "2" });
    const { phraseJson } = await createClient(PhraseService, transport).upsertPhrase({});
    expect(numberIn(phraseJson)).toBe(1);
  });

  it("describes its services by reflection", async () => {
    const { port } = await serve(teams, {});
    const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));
    const services = [PhraseService, Health, ServerReflection];
    const ask = async function* () {
      yield { messageRequest: { case: "listServices", value: "*" } } as const;
      for (const { typeName } of [...services, { typeName: "no.such" }]) {
        yield { messageRequest: { case: "fileContainingSymbol", value: typeName } } as const;
      }
    };
    const answers = [];
    for await (const { messageResponse } of client.serverReflectionInfo(ask())) answers.push(messageResponse);
    const names = answers[0]?.case === "listServicesResponse" ? answers[0].value.service.map(({ name }) => name) : [];
    expect(names).toEqual(services.map(({ typeName }) => typeName));
    for (const [index, { file }] of services.entries()) {
      const answer = answers[index + 1];
      const files = answer?.case === "fileDescriptorResponse" ? answer.value.fileDescriptorProto : [];
      const described = files.map((each) => fromBinary(FileDescriptorProtoSchema, each).name);
      expect(described).toContain(file.proto.name);
    }
    expect(answers[4]?.case).toBe("errorResponse");
  });

  it("leaves no rejection unhandled when a call's deadline passes before its body arrives", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    cleanUp(() => process.off("unhandledRejection", note));
    const { port } = await serve(teams, { upsertPhrase: () => Promise.reject(new Error("refused")) });
    const session = connect(`http://127.0.0.1:${port}`);
    cleanUp(() => session.destroy());
    const call = session.request({
      ":method": "POST",
      ":path": `/${PhraseService.typeName}/UpsertPhrase`,
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-timeout": "1m",
    });
    call.on("error", () => {}).resume();
    await pause(50);
    // The frame of an empty message.
    call.end(Buffer.alloc(5));
    await once(call, "close");
    await pause(10);
    expect(unhandled).toEqual([]);
  });
});
