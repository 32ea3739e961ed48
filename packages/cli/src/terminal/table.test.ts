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

test("control characters and line breaks in a cell are replaced", () => {
  expect(table(["name"], [["a\u001b[31mb\nc"]])).toBe("NAME\na\ufffd[31mb c");
});

test("printable replaces control characters and direction marks, but no tab and no line feed", () => {
  expect(printable("x\u0007\u202ey\u009bz\tå\n")).toBe("x\ufffd\ufffdy\ufffdz\tå\n");
});
