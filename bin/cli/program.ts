import { Command } from 'commander';
import { VERSION } from '../runner/version.ts';
import { addCompletionCommand } from './completion.ts';
import { addDoctorCommand } from './doctor.ts';
import { addImportCommand } from './import.ts';
import { addInboxCommand } from './inbox.ts';
import { addInitCommand } from './init.ts';
import { addListenCommand } from './listen.ts';
import { addMcpCommand } from './mcp.ts';
import { addReadCommand } from './read.ts';
import { addReplayCommand } from './replay.ts';
import { addReplyCommand } from './reply.ts';
import { addSendCommand } from './send.ts';
import { addTailCommand } from './tail.ts';
import { addWaitCommand } from './wait.ts';

/** Returns the program for users, with a file of this folder for each command. */
export function createProgram(): Command {
  const program = new Command('postroom')
    .description('Works with a Postroom server from the command line.')
    .version(VERSION)
    .showHelpAfterError('Try --help.')
    .exitOverride()
    .addHelpText('after', '\nStart with: postroom init\nGuide and exit codes: docs/cli.md');
  addInitCommand(program);
  addSendCommand(program);
  addInboxCommand(program);
  addReadCommand(program);
  addReplyCommand(program);
  addWaitCommand(program);
  addTailCommand(program);
  addReplayCommand(program);
  addListenCommand(program);
  addImportCommand(program);
  addMcpCommand(program);
  addDoctorCommand(program);
  addCompletionCommand(program);
  return program;
}
