import type { Command } from 'commander';
import { CommandError, EXIT } from './command-error.ts';
import { addServerOptions, connect, type ServerOptions } from './connect.ts';
import { parseSeconds } from './durations.ts';
import { addJsonOption, hint, print, printJson } from './output.ts';

type Options = ServerOptions & { holder?: string; for?: number; token?: string; release?: true; json?: true };

export function addClaimCommand(program: Command): void {
  const command = program
    .command('claim')
    .description('Claims a thread, so that one program or person answers it; renews or releases a claim.')
    .argument('<id>', 'ID of a thread (th_...)')
    .option('--holder <name>', 'who claims it; shown to others')
    .option('--for <time>', 'how long: 300, 5m, 2h', parseSeconds)
    .option('--token <token>', 'of your claim, to renew or release it')
    .option('--release', 'end the claim');
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
Prints the token of the claim.

Examples:
  $ postroom claim th_01a2... --holder agent-7 --for 10m
  $ postroom claim th_01a2... --token clm_... --release`,
    )
    .action(claim);
}

async function claim(id: string, options: Options): Promise<void> {
  const { holder, token, release } = options;
  if (token === undefined && (release === true || holder === undefined))
    throw new CommandError(release === true ? 'The token of the claim is missing.' : 'The holder is missing.', {
      exitCode: EXIT.usage,
      next:
        release === true ? 'Give it with --token.' : 'Say who claims the thread with --holder, or renew with --token.',
    });
  const server = await connect(options);
  const path = `/mail/threads/${encodeURIComponent(id)}/claim`;
  const ttl = options.for;
  const result =
    token === undefined
      ? await server.post<Claim>(path, { holder, ttl })
      : await server.post<Claim>(
          `${path}/${release === true ? 'release' : 'renew'}`,
          release === true ? { token } : { token, ttl },
        );
  if (options.json === true) return printJson(result);
  if (release === true) return print(`${result.thread_id} released`);
  print(result.token ?? '');
  hint(`It holds until ${result.expires_at}.`);
}

interface Claim {
  thread_id: string;
  token?: string;
  expires_at?: string;
}
