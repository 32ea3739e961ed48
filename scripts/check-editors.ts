/**
 * `npm run test:editors`: runs the programs of docs/editors.md, exactly as they are printed there,
 * against a stack of its own: with grpcurl, in Python, and in TypeScript, the last in an empty
 * project into which the packed `@vidimus/contracts` is installed. `check-methods.ts` checks that
 * each method of documents' teams door is in one of them.
 *
 * Needs python3 with venv, Go and npm. Installs grpcurl by the Go proxy and the pinned grpcio from
 * PyPI into .vidimus/editors once.
 */
import { openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";

const grpcurl = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4";
const root = join(import.meta.dirname, "..");
const docs = readFileSync(join(root, "docs/editors.md"), "utf8");
const tools = join(root, ".vidimus/editors");
const work = join(tools, "work");
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

const programs = { grpcurl: grpcurlProgram(), python: pythonProgram(), typescript: typescriptProgram() };
await using stack = await openProcessConstellation();
for (const [name, { command, env = {} }] of Object.entries(programs)) {
  const startedMs = performance.now();
  const [program = "", ...args] = command;
  const settings = {
    ...process.env,
    ...env,
    DOCUMENTS: stack.dev.grpc.documents,
    ACCESS: stack.dev.grpc.access,
    DELIVERY: stack.dev.grpc.delivery,
  };
  const child = spawn(program, args, { cwd: work, env: settings, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  await once(child, "close");
  if (child.exitCode === 0) console.log(`ok    ${name} (${Math.round(performance.now() - startedMs)} ms)`);
  else console.error(`${said}\nFAIL  ${name}: exit ${child.exitCode}`);
  if (child.exitCode !== 0) process.exitCode = 1;
}

interface Program {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function programOf(language: string): string {
  const [program, ...others] = docs.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"));
  if (!program?.[1] || others.length > 0) throw new Error(`docs/editors.md must hold one program in ${language}`);
  return program[1];
}

function written(file: string, language: string): string {
  const path = join(work, file);
  writeFileSync(path, programOf(language));
  return path;
}

function grpcurlProgram(): Program {
  const bin = join(tools, "bin");
  if (!existsSync(join(bin, "grpcurl")))
    runProgram("go", ["install", grpcurl], { env: { ...process.env, GOBIN: bin } });
  const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
  return { command: ["bash", written("editor.sh", "bash")], env };
}

/** Runs the page's commands; what they install is kept until the page installs something else. */
function pythonProgram(): Program {
  const folder = join(tools, "python");
  const [, commands = ""] = /^```console\n(\$ python3 -m venv.*?)^```$/ms.exec(docs) ?? [];
  const lines = commands.replaceAll("\\\n", " ").replaceAll(".vidimus/python", folder).split("\n");
  const [venv = "", install = "", stubs = ""] = lines.map((line) => line.replace(/^\$ /, ""));
  if (!existsSync(join(folder, install.replace(/\W+/g, "-").slice(-60)))) {
    for (const command of [venv, install]) runProgram("bash", ["-c", command]);
    writeFileSync(join(folder, install.replace(/\W+/g, "-").slice(-60)), "");
  }
  runProgram("bash", ["-c", stubs]);
  return { command: [join(folder, "bin/python"), written("editor.py", "python")], env: { PYTHONPATH: folder } };
}

function typescriptProgram(): Program {
  runProgram("npm", ["pack", "--silent", "--workspace", "@vidimus/contracts", "--pack-destination", work]);
  const project = join(work, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  const [, install = ""] = /^\$ (npm install .*)$/m.exec(docs) ?? [];
  runProgram("bash", ["-c", install.replace("./", "../")], { cwd: project });
  written("project/editor.ts", "typescript");
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "es2022",
    rootDir: ".",
    outDir: "dist",
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["editor.ts"] }));
  runProgram("tsc", ["--project", "."], { cwd: project });
  return { command: [process.execPath, join(project, "dist/editor.js")] };
}
