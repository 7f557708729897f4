import { Command, CommanderError } from 'commander';
import { EXIT, reportError } from './cli/command-error.ts';
import { addImportCommand } from './cli/import.ts';
import { addInboxCommand } from './cli/inbox.ts';
import { addInitCommand } from './cli/init.ts';
import { addListenCommand } from './cli/listen.ts';
import { addMcpCommand } from './cli/mcp.ts';
import { endQuietlyWithoutReader } from './cli/output.ts';
import { VERSION } from './runner/version.ts';

/** The command-line program for users: each command is in a file of `bin/cli`. It sends nothing to anyone but the server it is given. */
const program = new Command('postroom')
  .description('Works with a Postroom server from the command line.')
  .version(VERSION)
  .showHelpAfterError('Try --help.')
  .exitOverride()
  .addHelpText('after', '\nStart with: postroom init\nGuide and exit codes: docs/cli.md');
addInitCommand(program);
addInboxCommand(program);
addImportCommand(program);
addListenCommand(program);
addMcpCommand(program);

endQuietlyWithoutReader();
try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed the problem, or the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  else process.exitCode = reportError(error, { isJson: process.argv.includes('--json') });
}
