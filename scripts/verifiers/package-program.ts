/**
 * Source of a module that verifies files with what `npm pack` makes of packages/verify, unpacked
 * beside the module. It is called like the verifiers in docs/verifiers.md.
 */
export const packageProgram = `
import { readFileSync } from "node:fs";
import { verifyDelivery, verifyTrustList } from "./package/dist/verify.js";

const [headersFile, bodyFile, keysFile, keysHeadersFile] = process.argv.slice(2);
const { TRUST_ROOT: root, TRUST_LIST_KEY: listKey, TRUST_REVISION: revision = 0, KEYS_AT: at } = process.env;
function readHeaders(path) {
  const lines = readFileSync(path, "latin1").split("\\r\\n").filter((line) => line !== "");
  return Object.fromEntries(lines.map((line) => line.split(": ")));
}
try {
  const listed = readHeaders(keysHeadersFile);
  const [statement, signature] = ["statement", "signature"].map((name) => listed["vidimus-trust-" + name] ?? null);
  const pins = { root, listKey, revision: Number(revision) };
  const answer = { body: readFileSync(keysFile), statement, signature };
  const { keys } = await verifyTrustList(answer, pins, at ? Number(at) * 1000 : Date.now());
  const request = { headers: readHeaders(headersFile), body: readFileSync(bodyFile) };
  const { webhookId } = await verifyDelivery(request, { secret: process.env.WEBHOOK_SECRET, keys });
  console.log(webhookId + " is genuine");
} catch (error) {
  console.error("refused by " + error.fault + ": " + error.message);
  process.exitCode = 1;
}
`;
