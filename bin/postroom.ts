import { CommanderError } from 'commander';
import { CommandError, EXIT, reportError } from './cli/command-error.ts';
import { endQuietlyWithoutReader } from './cli/output.ts';
import { createProgram } from './cli/program.ts';

// The command line for users. It sends nothing to anyone but the server that it is given.
endQuietlyWithoutReader();
const isJson = process.argv.includes('--json');
try {
  await createProgram({ isJson }).parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) process.exitCode = reportError(error, { isJson });
  else if (error.exitCode === 0) process.exitCode = EXIT.ok;
  // Commander has printed the problem, except as JSON.
  else process.exitCode = isJson ? reportError(usageError(error), { isJson }) : EXIT.usage;
}

function usageError({ message }: CommanderError): CommandError {
  return new CommandError(message.replace(/^error: /, ''), { exitCode: EXIT.usage, next: 'Try --help.' });
}
