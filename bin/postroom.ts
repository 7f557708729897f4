#!/usr/bin/env node
import { Command } from 'commander';
import { addImportCommand } from './cli/import.ts';
import { VERSION } from './runner/version.ts';

/** The command-line program for users: each command is in a file of `bin/cli`. */
const program = new Command('postroom')
  .description('Works with a Postroom server from the command line.')
  .version(VERSION)
  .showHelpAfterError('Try --help.');
addImportCommand(program);

await program.parseAsync();
