/** Verifies files with the unpacked package, called as the verifiers of the documentation are. */
export const packageProgram = `
import { readFileSync } from "node:fs";
import { verifyDelivery } from "./package/dist/verify.js";

const [headersFile, bodyFile, keysFile] = process.argv.slice(2);
const lines = readFileSync(headersFile, "latin1").split("\\r\\n").filter((line) => line !== "");
const headers = Object.fromEntries(lines.map((line) => line.split(": ")));
const { keys } = JSON.parse(readFileSync(keysFile, "utf8"));
try {
  const request = { headers, body: readFileSync(bodyFile) };
  const { webhookId } = await verifyDelivery(request, { secret: process.env.WEBHOOK_SECRET, keys });
  console.log(webhookId + " is genuine");
} catch (error) {
  console.error("refused by " + error.fault + ": " + error.message);
  process.exitCode = 1;
}
`;
