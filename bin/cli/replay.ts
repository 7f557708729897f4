import { type Command, Option } from 'commander';
import { CommandError, EXIT } from './command-error.ts';
import { addServerOptions, connect, type Server, type ServerOptions } from './connect.ts';
import { parsePast } from './durations.ts';
import { addJsonOption, hint, print, printJson, table } from './output.ts';

interface ReplayOptions extends ServerOptions {
  since?: Date;
  until?: Date;
  all?: true;
  endpoint?: string;
  json?: true;
}

export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .description('Delivers received mail to an endpoint again. Without ID, lists the endpoints.')
    .argument('[id]', 'ID of an endpoint, or of an email (em_...) to deliver it alone')
    .option('--since <time>', 'endpoint: deliveries since this time, or for so long: 2h', parsePast)
    .option('--until <time>', 'endpoint: deliveries until this time; the default is now', parsePast)
    .option('--all', 'endpoint: also emails that were delivered; the default is those whose delivery failed')
    .addOption(
      new Option('--endpoint <id>', 'email: another endpoint than the one it is routed to').conflicts('since'),
    );
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  $ postroom replay
  $ postroom replay ENDPOINT --since 2h
  $ postroom replay em_01a2...`,
    )
    .action(replay);
}

async function replay(id: string | undefined, options: ReplayOptions): Promise<void> {
  const server = await connect(options);
  if (id === undefined) return listEndpoints(server, options);
  if (id.startsWith('em_')) return replayEmail(server, id, options);
  if (options.since === undefined)
    throw new CommandError('The period is missing.', {
      exitCode: EXIT.usage,
      next: 'Use --since with a time, or a duration such as 2h.',
    });
  const replayed = await replayEndpoint(server, id, options);
  if (options.json === true) return printJson({ replayed });
  print(`${replayed} ${replayed === 1 ? 'email is' : 'emails are'} delivered again.`);
  hint('See the deliveries: postroom tail --events delivery.succeeded,delivery.deferred,delivery.failed');
}

/** Returns the number of emails. */
async function replayEndpoint(server: Server, id: string, { since, until, all }: ReplayOptions): Promise<number> {
  let replayed = 0;
  let end = until?.toISOString();
  for (;;) {
    const body = { since, until: end, status: all === true ? 'all' : 'failed' };
    const page = await server.post<{ replayed: number; hasMore: boolean; until: string }>(
      `/endpoints/${encodeURIComponent(id)}/replay`,
      body,
    );
    replayed += page.replayed;
    if (!page.hasMore) return replayed;
    end = page.until;
  }
}

async function replayEmail(server: Server, id: string, { endpoint, json }: ReplayOptions): Promise<void> {
  const body = endpoint === undefined ? {} : { endpoint_id: endpoint };
  const result = await server.post<{ message: string }>(`/emails/${encodeURIComponent(id)}/retry`, body);
  if (json === true) return printJson(result);
  print(result.message);
}

interface Endpoint {
  id: string;
  name: string;
  type: string;
  isActive: boolean;
  config: { url?: string };
  deliveryStats: { failed: number };
}

async function listEndpoints(server: Server, { json }: ReplayOptions): Promise<void> {
  const { data, has_more: hasMore } = await server.get<{ data: Endpoint[]; has_more: boolean }>('/endpoints', {
    limit: 100,
  });
  if (json === true) return printJson({ data, has_more: hasMore });
  if (data.length === 0) return print('There are no endpoints.');
  print(
    table(data, [
      { title: 'ID', text: ({ id }) => id, style: () => 'dim' },
      { title: 'Name', text: ({ name }) => name, isFlexible: true },
      { title: 'Type', text: ({ type }) => type },
      { title: 'URL', text: ({ config }) => config.url ?? '', isFlexible: true },
      { title: 'Active', text: ({ isActive }) => (isActive ? 'yes' : 'no') },
      { title: 'Failed', text: ({ deliveryStats: { failed } }) => String(failed) },
    ]),
  );
}
