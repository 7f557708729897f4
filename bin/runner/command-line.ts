import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Config, ConfigError, processEnvironment, readConfig } from '../config.ts';

/** What every program of `bin` says about itself. */
export interface Program {
  /** the whole answer to --help */
  usage: string;
  options?: ParseArgsConfig['options'];
  /** how many words it takes beside the options */
  words?: number;
  /** how many of those, the last ones, may be left out */
  optionalWords?: number;
}

export interface Arguments {
  words: string[];
  /** those that take no value are `true` when given */
  options: Record<string, string | undefined>;
}

/** Exit status of a program that was called wrongly, as the shell's own commands have it. */
const USAGE_STATUS = 2;

/**
 * Reads the command line. `--help` prints the usage and ends the process with 0; anything unknown, missing or too much
 * ends it with 2 and one line that names it.
 */
export function readArguments(program: Program): Arguments {
  const words = program.words ?? 0;
  try {
    const parsed = parseArgs({
      options: { ...program.options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      strict: true,
    });
    if (parsed.values['help'] === true) {
      process.stdout.write(`${program.usage}\n`);
      process.exit(0);
    }
    if (parsed.positionals.length > words) throw new Error(`Unexpected argument '${parsed.positionals[words]}'`);
    if (parsed.positionals.length < words - (program.optionalWords ?? 0)) throw new Error('An argument is missing');
    const options: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(parsed.values))
      if (typeof value === 'string' || value === true) options[name] = String(value);
    return { words: parsed.positionals, options };
  } catch (error) {
    return refuseUsage((error as Error).message.split('\n')[0] ?? '');
  }
}

/** Ends the process with status 2 and one line: for a command line that cannot be meant. */
export function refuseUsage(reason: string): never {
  process.stderr.write(`${reason.replace(/\.$/, '')}. Try --help.\n`);
  process.exit(USAGE_STATUS);
}

/** Reads the configuration, or ends the process with status 1 and the one line that names the bad variable. */
export function readConfigOrRefuse(): Config {
  try {
    return readConfig(processEnvironment());
  } catch (error) {
    if (error instanceof ConfigError) return refuseToStart(error.message);
    throw error;
  }
}

/** Ends the process with status 1 and one line: for what the operator can put right. */
export function refuseToStart(reason: string): never {
  process.stderr.write(`${reason.replaceAll(/\s*\n\s*/g, ' ')}\n`);
  process.exit(1);
}
