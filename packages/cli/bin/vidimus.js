#!/usr/bin/env node
// Old JavaScript, because an old Node must be able to run this file to report that it is too old.
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
