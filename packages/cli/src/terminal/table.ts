import Table from "cli-table3";
import { printable } from "./printable.ts";

/** A plain table for people: no colours, no frame, columns apart by two spaces. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "none";
  const lines = new Table({
    head: head.map((name) => name.toUpperCase()),
    chars: frameless,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  // A line break in a cell would make one row look like two.
  lines.push(...rows.map((row) => row.map((cell) => printable(cell).replaceAll("\n", " "))));
  return lines
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

const edges = ["top", "bottom", "left", "right", "mid"] as const;
const corners = ["top-mid", "top-left", "top-right", "bottom-mid", "bottom-left", "bottom-right"] as const;
const crossings = ["left-mid", "mid-mid", "right-mid", "middle"] as const;
const frameless = Object.fromEntries([...edges, ...corners, ...crossings].map((part) => [part, ""]));
