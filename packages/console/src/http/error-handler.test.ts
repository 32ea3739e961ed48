import { DomainError, type ErrorKind } from "@vidimus/kit/errors";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { fastify } from "fastify";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { html } from "../markup/html.ts";
import { handleErrors } from "./error-handler.ts";

/** The answer to a request that fails, and the log lines about it. */
async function answerTo(kind: ErrorKind) {
  const lines: string[] = [];
  const log = createLogger(
    "console",
    "info",
    new Writable({ write: (line, _, done) => done(void lines.push(`${line}`)) }),
  );
  const app = fastify();
  handleErrors(app, log, ({ title, detail, next = "" }) => html`${title}: ${detail} ${next}`);
  app.get("/", () => Promise.reject(new DomainError(kind, "what happened")));
  const { statusCode, headers, body } = await app.inject("/");
  return { statusCode, retryAfter: headers["retry-after"], body, lines };
}

test("a refusal of the kind exhausted is 429 with Retry-After, and its page says that nothing was done", async () => {
  const { statusCode, retryAfter, body } = await answerTo("exhausted");
  expect([statusCode, retryAfter]).toEqual([429, "5"]);
  expect(body).toBe("Not done: What happened. ");
});

test("when a service is unavailable, the page says to look for an effect before sending a form again", async () => {
  const { statusCode, retryAfter, body } = await answerTo("unavailable");
  expect([statusCode, retryAfter]).toEqual([503, "5"]);
  expect(body).toContain("see first whether it has taken effect, and then send it again");
});

test("an unavailable service is logged", async () => {
  expect((await answerTo("unavailable")).lines).toEqual([expect.stringContaining("a service cannot be reached")]);
});

test("a refusal of the kind exhausted is not logged", async () => {
  expect((await answerTo("exhausted")).lines).toEqual([]);
});
