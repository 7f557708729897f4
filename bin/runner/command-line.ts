import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Config, ConfigError, readConfig } from '../config.ts';
import { processEnvironment } from '../environment.ts';

/** Command line of a program in `bin`. */
export interface Program {
  /** the text that --help prints */
  usage: string;
  options?: ParseArgsConfig['options'];
  /** number of positional arguments */
  words?: number;
  /** how many of the last positional arguments are optional */
  optionalWords?: number;
}

export interface Arguments {
  words: string[];
  /** options without a value are `true` when given */
  options: Record<string, string | undefined>;
}

/** Exit status for a wrong command line, the same as the shell's built-in commands use. */
const USAGE_STATUS = 2;

/**
 * Reads the command line. `--help` prints the usage and exits with 0. An unknown, missing or extra argument exits with 2 and one line that
 * names it.
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

/** Prints one line and exits with status 2, for an invalid command line. */
export function refuseUsage(reason: string): never {
  process.stderr.write(`${reason.replace(/\.$/, '')}. Try --help.\n`);
  process.exit(USAGE_STATUS);
}

/** Reads the configuration. If a variable is invalid, prints one line that names it and exits with status 1. */
export function readConfigOrRefuse(): Config {
  try {
    return readConfig(processEnvironment());
  } catch (error) {
    if (error instanceof ConfigError) return refuseToStart(error.message);
    throw error;
  }
}

/** Prints one line and exits with status 1, for a problem that the operator can fix. */
export function refuseToStart(reason: string): never {
  process.stderr.write(`${reason.replaceAll(/\s*\n\s*/g, ' ')}\n`);
  process.exit(1);
}
