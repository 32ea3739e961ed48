import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@vidimus/kit/rpc/client/grpc-transport";
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { credentials } from "@grpc/grpc-js";
import { readFileSync } from "node:fs";

/** Long enough for a handshake under load; refused connections end a call sooner. */
const callMsMax = 5_000;

/** `package.Service/Method`. */
export const nameOf = (method: DescMethod): string => `${method.parent.typeName}/${method.name}`;

export const methodsOf = (services: readonly DescService[]): DescMethod[] =>
  services.flatMap(({ methods }) => [...methods]);

/** A client that checks the authority of a server's certificate, but not the server's name. */
interface DoorCaller extends Disposable {
  call(method: DescMethod, request?: object, role?: string): Promise<keyof typeof Code | "ok">;
}

/** `caFile` is that of the servers' authority; without `files` the caller has no certificate. */
export function callerAt(target: string, caFile: string, files?: TlsFiles): DoorCaller {
  const pem = (file: string) => readFileSync(file);
  const own = files ? ([pem(files.keyFile), pem(files.certFile)] as const) : [];
  const ssl = credentials.createSsl(pem(caFile), own[0], own[1], { checkServerIdentity: () => undefined });
  const transport = createGrpcTransport({ target: `dns:///${target}`, credentials: ssl, defaultTimeoutMs: callMsMax });
  return {
    call: (method, request = {}, role = "") => codeOfCall(transport, method, request, role),
    [Symbol.dispose]: () => transport.close(),
  };
}

/** Of a stream, the first message is enough for "ok". */
export async function codeOfCall(
  transport: Transport,
  method: DescMethod,
  request: object,
  role: string,
): Promise<keyof typeof Code | "ok"> {
  const headers = { "vidimus-role": role, "vidimus-actor": "caller" };
  try {
    if (method.methodKind === "unary") {
      await transport.unary(method as never, undefined, callMsMax, headers, request as never);
    } else {
      const requests = (async function* () {
        yield request as never;
      })();
      const { message } = await transport.stream(method as never, undefined, callMsMax, headers, requests);
      for await (const _ of message) break;
    }
    return "ok";
  } catch (error) {
    return Code[ConnectError.from(error).code] as keyof typeof Code;
  }
}
