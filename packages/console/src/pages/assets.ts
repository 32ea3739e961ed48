import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { OpenRoute } from "../http/route.ts";

/**
 * Reads a file of the folder `look`. The path in its URL contains the hash of its content, so that
 * browsers may cache it forever.
 */
function readAsset(name: string, type: string) {
  const asset = readFileSync(new URL(`look/${name}`, import.meta.url), "utf8");
  const hash = createHash("sha256").update(asset).digest("hex").slice(0, 12);
  return { path: `/look/${hash}/${name}`, type, asset };
}

const style = readAsset("console.css", "text/css; charset=utf-8");
const script = readAsset("console.js", "text/javascript; charset=utf-8");
const seal = readAsset("seal.svg", "image/svg+xml");

export const stylePath = style.path;
export const scriptPath = script.path;
export const sealPath = seal.path;

export function assetRoutes(): OpenRoute[] {
  return [style, script, seal].map(({ path, ...asset }) => ({
    access: "open",
    method: "GET",
    url: path,
    handle: async () => asset,
  }));
}
