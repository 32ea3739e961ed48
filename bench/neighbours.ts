/**
 * What one tenant with one valid key can do to another. For each form of attack, on a stage of its
 * own under default limits: how the neighbour fares before, during and after, beside how it fares
 * while the same attack hits a bare listener, which is what the attacker's own work costs this
 * machine; and how far gateway, documents and phrases grow.
 *
 * `npm run bench -- neighbours FORM…` runs some of the forms.
 */
import type { AttackTarget } from "./load/attack-form.ts";
import { startAttack } from "./load/attacker.ts";
import { neighbourForms, type NeighbourForm } from "./load/neighbour-forms.ts";
import { type FormResult, reportNeighbours } from "./load/neighbour-report.ts";
import { failuresOf, type NeighbourTurn, runNeighbour } from "./load/neighbour.ts";
import { readBenchSettings } from "./load/settings.ts";
import { openNewsrooms } from "./stage/newsrooms.ts";
import { watchServices } from "./stage/service-memory.ts";

const { durationMs } = readBenchSettings();
const restMs = 60_000;
/** Enough for garbage to be collected as in life, too little to be felt by the next form. */
const restPerSecond = 5;

const results: Promise<FormResult>[] = [];
for (const form of chooseForms(process.argv.slice(3))) {
  const { isQuiet, result } = await measure(form);
  results.push(result);
  // A stage that still fails its neighbour would use the machine beside the next form.
  if (!isQuiet) await result;
}
reportNeighbours(await Promise.all(results));

function chooseForms(names: readonly string[]): NeighbourForm[] {
  const forms = neighbourForms({ url: "", apiKey: "", tenantId: "", documents: undefined });
  const known = forms.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: no form of ${known.join(", ")}`);
  return names.length === 0 ? forms : forms.filter(({ name }) => names.includes(name));
}

/**
 * Runs a form. Its result follows after a quiet minute, in which the next form may run on another
 * stage.
 */
async function measure({ name, needs }: NeighbourForm): Promise<{ isQuiet: boolean; result: Promise<FormResult> }> {
  await using opened = new AsyncDisposableStack();
  const { stage, attacker, ...newsrooms } = opened.use(await openNewsrooms(needs));
  const { gateway, grpc } = stage.constellation.dev;
  const neighbour = { gateway, ...newsrooms.neighbour };
  const work = (turns: number) => runNeighbour(neighbour, turns * durationMs);
  const bare: AttackTarget = { url: await stage.startBaseline("bare-listener"), ...attacker, documents: undefined };

  console.log(`${name}: stage in ${stage.constellation.stateDir}`);
  // Code runs cold for its first seconds.
  await work(1);
  const before = await work(1);
  const idle = await underAttack(name, bare, () => work(2));
  const memory = await watchServices(stage.constellation);
  console.log(`${name}: under attack`);
  const attacked = await underAttack(name, { ...bare, url: gateway, documents: grpc.documents }, () => work(2));
  const after = await work(1);
  memory.stop();
  const turns = { before, idle: idle.turn, during: attacked.turn, after };
  const resting = opened.move();
  const rest = async () => {
    await using _resting = resting;
    await runNeighbour(neighbour, restMs - durationMs, restPerSecond);
    return { name, turns, tally: attacked.tally, memory: await memory.read() };
  };
  return { isQuiet: failuresOf(after) === 0, result: rest() };
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
