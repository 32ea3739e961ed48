/**
 * What one tenant with one valid key can do to another. For each form of attack, on a stage of its
 * own under default limits: the neighbour's latencies before, during and after it, and while the
 * same attack hits a bare listener, which shows the cost of the attacker itself on this machine;
 * and the memory growth of gateway, documents and phrases.
 *
 * `npm run bench -- neighbours FORM…` runs some of the forms.
 */
import type { AttackTarget } from "./load/attack-form.ts";
import { startAttack } from "./load/attacker.ts";
import { neighbourForms, type NeighbourForm } from "./load/neighbour-forms.ts";
import { type FormResult, reportNeighbours } from "./load/neighbour-report.ts";
import { type NeighbourTurn, runNeighbour } from "./load/neighbour.ts";
import { readBenchSettings } from "./load/settings.ts";
import { openNewsrooms } from "./stage/newsrooms.ts";
import { watchServices } from "./measure/service-memory.ts";

const { durationMs } = readBenchSettings();
/** From the end of the attack to the last reading of the memory. */
const restMs = 60_000;
/** Enough traffic for garbage to be collected as usual. */
const restPerSecond = 5;

const results: FormResult[] = [];
for (const form of chooseForms(process.argv.slice(3))) results.push(await measure(form));
reportNeighbours(results);

function chooseForms(names: readonly string[]): NeighbourForm[] {
  const forms = neighbourForms({ url: "", apiKey: "", tenantId: "", documents: undefined });
  const known = forms.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: no form of ${known.join(", ")}`);
  return names.length === 0 ? forms : forms.filter(({ name }) => names.includes(name));
}

async function measure({ name, needs }: NeighbourForm): Promise<FormResult> {
  await using rooms = await openNewsrooms(needs);
  const { stage, attacker, ...newsrooms } = rooms;
  const { gateway, grpc } = stage.constellation.dev;
  const neighbour = { gateway, ...newsrooms.neighbour };
  const work = (turns: number) => runNeighbour(neighbour, turns * durationMs);
  const bare: AttackTarget = { url: await stage.startBaseline("bare-listener"), ...attacker, documents: undefined };

  console.log(`${name}: stage in ${stage.constellation.stateDir}`);
  // A warm-up, because code is slow in its first seconds.
  await work(1);
  const before = await work(1);
  const idle = await underAttack(name, bare, () => work(2));
  const memory = await watchServices(stage.constellation);
  console.log(`${name}: under attack`);
  const attacked = await underAttack(name, { ...bare, url: gateway, documents: grpc.documents }, () => work(2));
  const after = await work(1);
  memory.stop();
  await runNeighbour(neighbour, restMs - durationMs, restPerSecond);
  const turns = { before, idle: idle.turn, during: attacked.turn, after };
  return { name, turns, tally: attacked.tally, memory: await memory.read() };
}

async function underAttack(
  form: string,
  target: AttackTarget,
  work: () => Promise<NeighbourTurn>,
): Promise<{ turn: NeighbourTurn; tally: Record<string, number> }> {
  const attack = await startAttack(target, { neighbour: form });
  const turn = await work();
  const tally = await attack.stop();
  return { turn, tally: tally[form] ?? {} };
}
