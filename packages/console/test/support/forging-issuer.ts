import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

/** What the issuer's token endpoint answers next. */
interface Next {
  claims: Readonly<Record<string, unknown>>;
  /** Header `alg` of the ID token; "none" leaves its signature empty. */
  alg: "RS256" | "none";
  status: number;
}

/**
 * An issuer that puts into its ID tokens whatever claims a test sets. It has no page for signing
 * in, and takes any code.
 */
export async function openForgingIssuer() {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const next: Next = { claims: {}, alg: "RS256", status: 200 };
  let url = "";
  const idToken = () => {
    const parts = [{ alg: next.alg, kid: "k" }, next.claims].map((part) => base64url(JSON.stringify(part)));
    const signature = next.alg === "none" ? "" : sign("sha256", Buffer.from(parts.join(".")), privateKey);
    return [...parts, base64url(signature)].join(".");
  };
  const answers: Readonly<Record<string, () => object>> = {
    "/.well-known/openid-configuration": () => ({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
    }),
    "/jwks": () => ({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", use: "sig", alg: "RS256" }] }),
    "/token": () => ({ access_token: "a", token_type: "Bearer", id_token: idToken() }),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ""];
    send(response, answer ? (request.url === "/token" ? next.status : 200) : 404, answer?.() ?? {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  return {
    url,
    next,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function base64url(bytes: string | Buffer): string {
  return Buffer.from(bytes).toString("base64url");
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
