import { CommanderError } from 'commander';
import { EXIT, reportError } from './cli/command-error.ts';
import { endQuietlyWithoutReader } from './cli/output.ts';
import { createProgram } from './cli/program.ts';

// The command line for users. It sends nothing to anyone but the server that it is given.
endQuietlyWithoutReader();
try {
  await createProgram().parseAsync();
} catch (error) {
  // Commander has printed the problem, or the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  else process.exitCode = reportError(error, { isJson: process.argv.includes('--json') });
}
