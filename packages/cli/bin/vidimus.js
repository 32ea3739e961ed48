#!/usr/bin/env node
// This file has only old syntax, because an old Node must be able to run it, to report that Node is
// too old.
const nodeMin = 26;
if (Number(process.versions.node.split(".")[0]) < nodeMin) {
  console.error(
    `error: vidimus needs Node ${nodeMin} or newer, and this is ${process.versions.node} (${process.execPath}). ` +
      "`npx vidimus` in the checkout runs it with the Node that npm ci has installed.",
  );
  process.exitCode = 1;
} else {
  await import("../src/main.ts");
}
