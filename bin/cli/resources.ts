import { type Command, Option } from 'commander';
import { capabilityCommands } from './capability-commands.ts';
import { CommandError, EXIT } from './command-error.ts';
import { addServerOptions, connect, type Server, type ServerOptions } from './connect.ts';
import { addJsonOption, type Column, print, printJson, table } from './output.ts';

type Row = Record<string, unknown>;
type Options = ServerOptions & { json?: true } & Record<string, unknown>;

interface Resource {
  name: string;
  description: string;
  path: string;
  columns: readonly Column<Row>[];
  empty: string;
  examples: readonly string[];
  /** Adds the options of `--create`. */
  addOptions?: (command: Command) => Command;
  /** Returns the body that creates one. */
  makeBody?: (server: Server, options: Options) => Promise<Row>;
  /** options of the list, and the parameter of each */
  filter?: Readonly<Record<string, { field: string; description: string }>>;
  /** whether it only lists */
  isReadOnly?: boolean;
  /** whether `--send` sends one */
  isSent?: true;
}

/** Returns a field as text, in a list; an empty one if the row has none. */
function readText(row: Row, field: string): string[] {
  const value = row[field];
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

const word = (title: string, field: string, isFlexible?: true): Column<Row> => ({
  title,
  text: (row) => readText(row, field)[0] ?? '',
  ...(isFlexible === undefined ? {} : { isFlexible }),
});

const WRITTEN: readonly Resource[] = [
  {
    name: 'endpoints',
    description: 'Lists endpoints, or creates or deletes one: where received mail is posted.',
    path: '/endpoints',
    columns: [
      word('ID', 'id'),
      word('Name', 'name', true),
      word('Type', 'type'),
      { title: 'Active', text: (row) => (row['isActive'] === true ? 'yes' : 'no') },
    ],
    empty: 'There are no endpoints.',
    examples: [
      'postroom endpoints',
      'postroom endpoints --create https://app.example.com/hook --name App',
      'postroom endpoints --delete ep_...',
    ],
    addOptions: (command) =>
      command
        .option('--create <url>', 'create a webhook that posts to this URL; prints its signing secret')
        .option('--name <name>', 'name of the new endpoint; the default is the host of its URL'),
    makeBody: async (_server, { create, name }) => ({
      name: name ?? (URL.parse(String(create))?.host || String(create)),
      type: 'webhook',
      config: { url: create },
    }),
  },
  {
    name: 'addresses',
    description: 'Lists email addresses, or creates or deletes one.',
    path: '/email-addresses',
    columns: [
      word('ID', 'id'),
      word('Address', 'address', true),
      { title: 'Active', text: (row) => (row['isActive'] === true ? 'yes' : 'no') },
      word('Endpoint', 'endpointId'),
    ],
    empty: 'There are no addresses.',
    examples: [
      'postroom addresses',
      'postroom addresses --create orders@inbox.test --endpoint ep_...',
      'postroom addresses --delete addr_...',
    ],
    addOptions: (command) =>
      command
        .option('--create <address>', 'create this address on one of your domains')
        .addOption(new Option('--endpoint <id>', 'endpoint that gets the mail of the new address')),
    makeBody: async (server, { create, endpoint }) => ({
      address: create,
      domainId: await readDomain(server, String(create)),
      ...(endpoint === undefined ? {} : { endpointId: endpoint }),
    }),
  },
  {
    name: 'domains',
    description: 'Lists domains, or creates or deletes one: what mail is sent from and received at.',
    path: '/domains',
    columns: [word('ID', 'id'), word('Domain', 'domain', true), word('Status', 'status')],
    empty: 'There are no domains.',
    examples: ['postroom domains', 'postroom domains --create example.com', 'postroom domains --delete dom_...'],
    addOptions: (command) => command.option('--create <domain>', 'create this domain; prints its DNS records'),
    makeBody: async (_server, { create }) => ({ domain: create }),
  },
  {
    name: 'drafts',
    description: 'Lists drafts, or sends or deletes one.',
    path: '/drafts',
    columns: [
      word('ID', 'id'),
      word('Version', 'version'),
      word('Kind', 'kind'),
      word('Subject', 'subject', true),
      word('Changed', 'updated_at'),
    ],
    empty: 'There are no drafts.',
    examples: ['postroom drafts', 'postroom drafts --send drf_...', 'postroom drafts --delete drf_...'],
    isSent: true,
  },
];

/** Fields of declared commands whose columns may be wide. */
const FLEXIBLE: ReadonlySet<string> = new Set(['address', 'recipient', 'sender', 'reply']);

/** Resources whose commands are made from capabilities. */
const DECLARED = capabilityCommands.map((declared): Resource => {
  const { columns, ...command } = declared;
  const options: readonly (readonly [string, { field: string; description: string }])[] =
    'create' in declared ? Object.entries(declared.create) : [];
  return {
    ...command,
    columns: Object.entries(columns).map(([field, title]) =>
      word(title, field, FLEXIBLE.has(field) ? true : undefined),
    ),
    addOptions: (program) =>
      options.reduce((made, [name, { description }]) => made.option(`--${name} <value>`, description), program),
    makeBody: async (_server, given) =>
      Object.fromEntries(
        options.flatMap(([name, { field }]) => {
          const value = given[optionKey(name)];
          return value === undefined ? [] : [[field, value]];
        }),
      ),
  };
});

const RESOURCES: readonly Resource[] = [...WRITTEN, ...DECLARED];

/** Returns the key of an option, which commander has in camelCase. */
function optionKey(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Adds a command for each resource: without options it lists, with `--create` or `--delete` it changes one. Some only list. */
export function addResourceCommands(program: Command): void {
  for (const resource of RESOURCES) {
    const { name, description, addOptions = (command: Command) => command, examples } = resource;
    const command = addOptions(program.command(name).description(description));
    if (resource.isReadOnly !== true) command.option('--delete <id>', 'delete one');
    for (const [option, { description: about }] of Object.entries(resource.filter ?? {}))
      command.option(`--${option} <value>`, about);
    if (resource.isSent === true) command.option('--send <id>', 'send one');
    addJsonOption(addServerOptions(command))
      .addHelpText('after', `\nExamples:\n${examples.map((each) => `  $ ${each}`).join('\n')}`)
      .action((options: Options) => run(resource, options));
  }
}

async function run(resource: Resource, options: Options): Promise<void> {
  const { path, makeBody } = resource;
  const chosen = ['create', 'delete', 'send'].filter((name) => options[name] !== undefined);
  if (chosen.length > 1)
    throw new CommandError(`Use one of ${chosen.map((name) => `--${name}`).join(' and ')}.`, { exitCode: EXIT.usage });
  const server = await connect(options);
  if (typeof options['delete'] === 'string')
    return show(
      options,
      await server.post<Row>(`${path}/${encodeURIComponent(options['delete'])}`, undefined, { method: 'DELETE' }),
    );
  if (typeof options['send'] === 'string')
    return show(options, await server.post<Row>(`${path}/${encodeURIComponent(options['send'])}/send`, {}));
  if (options['create'] !== undefined && makeBody !== undefined)
    return show(options, await server.post<Row>(path, await makeBody(server, options)));
  const filter: Record<string, string> = {};
  for (const [option, { field }] of Object.entries(resource.filter ?? {})) {
    const value = options[optionKey(option)];
    if (typeof value === 'string') filter[field] = value;
  }
  const { data } = await server.get<{ data: Row[] }>(path, { limit: 100, ...filter });
  if (options.json === true) return printJson({ data });
  print(data.length === 0 ? resource.empty : table(data, resource.columns));
}

/** Prints what was changed: its ID, what is shown only once, and what is to do next. */
function show(options: Options, result: Row): void {
  if (options.json === true) return printJson(result);
  print(String(result['id'] ?? options['delete'] ?? options['send']));
  if (typeof result['signingSecret'] === 'string') print(`Signing secret: ${result['signingSecret']}`);
  // Whole, because they are copied.
  const records = Array.isArray(result['records']) ? (result['records'] as Row[]) : [];
  if (records.length > 0) print('Publish these DNS records:');
  for (const record of records)
    print(['type', 'name', 'priority', 'value'].flatMap((field) => readText(record, field)).join('  '));
}

async function readDomain(server: Server, address: string): Promise<string> {
  const name = address.split('@').at(-1)?.toLowerCase() ?? '';
  const { data } = await server.get<{ data: { id: string; domain: string }[] }>('/domains', { limit: 100 });
  const domain = data.find((each) => each.domain === name);
  if (domain !== undefined) return domain.id;
  throw new CommandError(`${name} is none of your domains.`, {
    exitCode: EXIT.notFound,
    next: `Your domains: ${data.map((each) => each.domain).join(', ') || 'none'}.`,
  });
}
