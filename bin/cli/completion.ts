import { Argument, type Command } from 'commander';
import { print } from './output.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof SCRIPTS;

/** Adds the command that prints completion scripts. It must be the last one, because it describes those before it. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('Prints the completion script of a shell: commands, options and their values.')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
Examples:
  $ postroom completion bash > ~/.local/share/bash-completion/completions/postroom
  $ postroom completion zsh > ~/.zfunc/_postroom     with fpath+=~/.zfunc before compinit in ~/.zshrc
  $ postroom completion fish > ~/.config/fish/completions/postroom.fish`,
    )
    .action((shell: Shell) => print(SCRIPTS[shell](program.name(), describe(program))));
}

interface Described {
  name: string;
  description: string;
  options: { long: string; description: string; takesValue: boolean; values: readonly string[] }[];
  /** values of the first argument */
  values: readonly string[];
}

function describe(program: Command): Described[] {
  return program.commands.map((command) => {
    const help = command.createHelp();
    return {
      name: command.name(),
      description: command.description(),
      options: help.visibleOptions(command).map((option) => ({
        long: option.long ?? '',
        description: option.description,
        takesValue: option.required || option.optional,
        values: option.argChoices ?? [],
      })),
      values: command.registeredArguments[0]?.argChoices ?? [],
    };
  });
}

function bashScript(name: string, commands: readonly Described[]): string {
  const values = commands.flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      // Nothing of ours after other options with a value: then bash completes file names.
      .map(({ long, values: words }) => `    '${command.name} ${long}') words='${words.join(' ')}' ;;`),
  );
  const words = commands.map(
    ({ name: each, options, values: first }) =>
      `    ${each}) words='${[...options.map(({ long }) => long), ...first].join(' ')}' ;;`,
  );
  return `# Completion of ${name} for bash.
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= words= at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in -*) ;; *) command=\${COMP_WORDS[at]}; break ;; esac
  done
  case "$command $previous" in
${values.join('\n')}
    *) case $command in
    '') words='${commands.map((each) => each.name).join(' ')} help --help --version' ;;
${words.join('\n')}
    help) words='${commands.map((each) => each.name).join(' ')}' ;;
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}`;
}

function zshScript(name: string, commands: readonly Described[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  // In _arguments, brackets and colons end a description.
  const escaped = (text: string) => text.replaceAll(/[[\]:]/g, String.raw`\$&`);
  const cases = commands.map(({ name: each, options, values }) => {
    const specs = options.map(({ long, description, takesValue, values: words }) => {
      const value = takesValue ? `:value:${words.length > 0 ? `(${words.join(' ')})` : '_files'}` : '';
      return quoted(`*${long}[${escaped(description)}]${value}`);
    });
    const first = quoted(values.length > 0 ? `1:value:(${values.join(' ')})` : '1:value:_files');
    return `    ${each}) _arguments ${[...specs, first, quoted('*:file:_files')].join(' ')} ;;`;
  });
  const list = commands.map(({ name: each, description }) => quoted(`${each}:${escaped(description)}`));
  return `#compdef ${name}
# Completion of ${name} for zsh.
_${name}() {
  local -a commands=(${list.join(' ')})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('\n')}
    help) _describe command commands ;;
  esac
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi`;
}

function fishScript(name: string, commands: readonly Described[]): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  const lines = commands.flatMap(({ name: each, description, options, values }) => {
    const within = `complete -c ${name} -n ${quoted(`__fish_seen_subcommand_from ${each}`)}`;
    return [
      `complete -c ${name} -n __fish_use_subcommand -f -a ${each} -d ${quoted(description)}`,
      ...options.map(({ long, description: text, takesValue, values: words }) => {
        const value = words.length > 0 ? ` -x -a ${quoted(words.join(' '))}` : takesValue ? ' -r' : '';
        return `${within} -l ${long.replace(/^--/, '')}${value} -d ${quoted(text)}`;
      }),
      ...(values.length > 0 ? [`${within} -f -a ${quoted(values.join(' '))}`] : []),
    ];
  });
  return [`# Completion of ${name} for fish.`, ...lines].join('\n');
}
