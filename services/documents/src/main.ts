import { runUntilStopped } from "@vidimus/kit/service/process";
import { readConfig } from "./config.ts";
import { startDocuments } from "./documents.ts";

await runUntilStopped(async () => startDocuments(readConfig(process.env)));
