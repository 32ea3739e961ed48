import { PassThrough } from "node:stream";
import pino from "pino";

export function logLines(level: "debug" | "info" = "info") {
  const lines: Record<string, unknown>[] = [];
  const sink = new PassThrough();
  sink.on("data", (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split("\n")) lines.push(JSON.parse(line));
  });
  const formatters = { level: (label: string) => ({ level: label }) };
  return { log: pino({ level, formatters }, sink), lines };
}
