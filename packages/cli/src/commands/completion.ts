import { Argument, Command } from "commander";
import { nouns, soloCommands } from "../nouns.ts";
import type { World } from "../world.ts";

/**
 * From the words typed so far to the words that may follow. A key is `noun`, `noun command`, the
 * name of a command without a noun, or "" before the first word.
 */
type Words = ReadonlyMap<string, readonly string[]>;

const scripts: Readonly<Record<string, (words: Words) => string>> = { bash, zsh, fish };

export function printCompletion(world: World): Command {
  return new Command("completion")
    .description("print a script that lets a shell complete command lines")
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(Object.keys(scripts)))
    .addHelpText("after", usage)
    .action(async (shell: string, _: unknown, command: Command) => {
      const shared = command.parent ? flagsOf(command.parent).filter((flag) => flag !== "--version") : [];
      world.stdout.write(scripts[shell]?.(await collectWords(world, shared)) ?? "");
    });
}

const usage = `
bash:  eval "$(vidimus completion bash)"           in ~/.bashrc
zsh:   eval "$(vidimus completion zsh)"            in ~/.zshrc, after compinit
fish:  vidimus completion fish > ~/.config/fish/completions/vidimus.fish`;

async function collectWords(world: World, shared: readonly string[]): Promise<Words> {
  const flags = (command: Command) => [...flagsOf(command), ...shared, "--help"];
  const words = new Map([["", [...nouns, ...soloCommands].map(({ name }) => name)]]);
  for (const { name, commands } of nouns) {
    words.set(name, Object.keys(commands));
    for (const [command, load] of Object.entries(commands)) {
      words.set(`${name} ${command}`, flags((await load())(world)));
    }
  }
  for (const { name, load } of soloCommands) {
    if (name !== "completion") words.set(name, flags((await load())(world)));
  }
  return words;
}

function flagsOf(command: Command): string[] {
  return command.options.flatMap(({ long }) => long ?? []);
}

function bash(words: Words): string {
  return `_vidimus() {
  local words=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || words+=("$word")
  done
  local offered
  case "\${words[*]:0:2}" in
${cases(words)}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _vidimus vidimus
`;
}

function zsh(words: Words): string {
  return `_vidimus() {
  local -a given
  given=(\${\${words[2,CURRENT-1]}:#-*})
  local offered
  case "\${given[1,2]}" in
${cases(words)}
  esac
  compadd -- \${=offered} || _files
}
compdef _vidimus vidimus
`;
}

/**
 * The branches of the shell's `case` over the words before the cursor. After a command only its
 * flags are offered, because the ids and values that may follow are not known here.
 */
function cases(words: Words): string {
  const lines = Array.from(words, ([given, offered]) => `    "${given}") offered="${offered.join(" ")}" ;;`);
  const solo = soloCommands.map(({ name }) => name).filter((name) => words.has(name));
  const more = solo.map((name) => `    "${name} "*) offered="${words.get(name)?.join(" ")}" ;;`);
  return [...lines, ...more].join("\n");
}

function fish(words: Words): string {
  const first = `complete -c vidimus -n __fish_use_subcommand -xa "${words.get("")?.join(" ")}"`;
  const others = Array.from(words).flatMap(([given, offered]) => {
    const [noun, command] = given.split(" ");
    if (noun === undefined || noun === "") return [];
    const isNoun = command === undefined && !offered.includes("--help");
    const seen = `__fish_seen_subcommand_from ${command ?? noun}`;
    const under = command === undefined ? "" : `__fish_seen_subcommand_from ${noun}; and `;
    if (isNoun)
      return [
        `complete -c vidimus -n "${seen}; and not __fish_seen_subcommand_from ${offered.join(" ")}" -xa "${offered.join(" ")}"`,
      ];
    return offered.map((flag) => `complete -c vidimus -n "${under}${seen}" -l ${flag.slice(2)}`);
  });
  return `${[first, ...others].join("\n")}\n`;
}
