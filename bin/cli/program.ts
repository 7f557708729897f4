import { Command } from 'commander';
import { VERSION } from '../runner/version.ts';
import { addApprovalCommands } from './approvals.ts';
import { addClaimCommand } from './claim.ts';
import { addCompletionCommand } from './completion.ts';
import { addDoctorCommand } from './doctor.ts';
import { addImportCommand } from './import.ts';
import { addInboxCommand } from './inbox.ts';
import { addInitCommand } from './init.ts';
import { addListenCommand } from './listen.ts';
import { addLoginCommands } from './login.ts';
import { addMcpCommand } from './mcp.ts';
import { addReadCommand } from './read.ts';
import { addReplayCommand } from './replay.ts';
import { addReplyCommand } from './reply.ts';
import { addResourceCommands } from './resources.ts';
import { addSendCommand } from './send.ts';
import { addSimulateCommand } from './simulate.ts';
import { addTailCommand } from './tail.ts';
import { addWaitCommand } from './wait.ts';

/** Returns the program for users, with a file of this folder for each command. With `isJson` the caller prints errors of the command line. */
export function createProgram({ isJson = false }: { isJson?: boolean } = {}): Command {
  const program = new Command('postroom')
    .description('Works with a Postroom server from the command line.')
    .version(VERSION)
    .showHelpAfterError(isJson ? false : 'Try --help.')
    .configureOutput(isJson ? { writeErr: () => undefined } : {})
    .exitOverride()
    .addHelpText(
      'after',
      '\nStart with: postroom login, or postroom init with an API key\nGuide and exit codes: docs/cli.md',
    );
  addInitCommand(program);
  addLoginCommands(program);
  addSendCommand(program);
  addInboxCommand(program);
  addReadCommand(program);
  addReplyCommand(program);
  addWaitCommand(program);
  addTailCommand(program);
  addReplayCommand(program);
  addListenCommand(program);
  addApprovalCommands(program);
  addClaimCommand(program);
  addResourceCommands(program);
  addSimulateCommand(program);
  addImportCommand(program);
  addMcpCommand(program);
  addDoctorCommand(program);
  addCompletionCommand(program);
  return program;
}
