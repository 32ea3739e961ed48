import { expect, test } from "vitest";
import { printable } from "./printable.ts";
import { table } from "./table.ts";

test("columns are separated by blanks, without frame, colours or trailing blanks", () => {
  expect(
    table(
      ["id", "name"],
      [
        ["demo", "Demo newsroom"],
        ["r", ""],
      ],
    ),
  ).toBe("ID    NAME\ndemo  Demo newsroom\nr");
});

test("a table without rows is the word none", () => {
  expect(table(["id"], [])).toBe("none");
});

test("a control character in a cell is replaced by U+FFFD", () => {
  expect(table(["name"], [["a\u001b[31mb"]])).toBe("NAME\na\ufffd[31mb");
});

test("a line break in a cell becomes a blank", () => {
  expect(table(["name"], [["b\nc"]])).toBe("NAME\nb c");
});

test("printable replaces control characters and a direction override, but no tab and no line feed", () => {
  expect(printable("x\u0007\u202ey\u009bz\tå\n")).toBe("x\ufffd\ufffdy\ufffdz\tå\n");
});
