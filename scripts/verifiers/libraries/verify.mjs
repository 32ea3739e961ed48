// Verifies deliveries with `standardwebhooks` and `svix` from npm; see ../../check-libraries.ts.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [casesFile, library] = process.argv.slice(2);
const { Webhook } = createRequire(`${process.cwd()}/`)(library);
const cases = JSON.parse(readFileSync(casesFile, "utf8"));
let refused = 0;

for (const { name, secret, headers, body } of cases) {
  const webhook = new Webhook(secret);
  const bytes = Buffer.from(body, "base64");
  const accepts = (changedBody, changedHeaders) => {
    try {
      webhook.verify(changedBody, changedHeaders);
      return true;
    } catch {
      return false;
    }
  };
  if (!accepts(bytes.toString(), headers)) throw new Error(`${name} is refused`);
  for (const { what, flipped } of flips(bytes)) {
    // The library takes text, so a body that is no longer UTF-8 gets replacement characters.
    if (accepts(flipped.toString(), headers)) throw new Error(`${name} is accepted with ${what} of the body flipped`);
    refused += 1;
  }
  for (const header of ["webhook-id", "webhook-timestamp"]) {
    for (const { what, flipped } of flips(Buffer.from(headers[header]))) {
      const changed = { ...headers, [header]: flipped.toString("latin1") };
      if (accepts(bytes.toString(), changed)) throw new Error(`${name} is accepted with ${what} of ${header} flipped`);
      refused += 1;
    }
  }
}
console.log(`${cases.length} deliveries accepted, ${refused} changed ones refused`);

function* flips(bytes) {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] ^= 1 << (bit & 7);
    yield { what: `bit ${bit}`, flipped };
  }
}
