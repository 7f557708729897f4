import { measureInProcess, UsageError } from './run-part.ts';

interface Benchmark {
  about: string;
  load: () => Promise<{ run: (args: string[]) => Promise<void>; help: string }>;
}

/** `npm run bench -- NAME [options]`: runs one benchmark. Each prints its machine, its figures and its ratios. */
const benchmarks: Record<string, Benchmark> = {
  all: { about: 'everything that README.md quotes; writes docs/benchmarks.md', load: () => import('./all.ts') },
  page: {
    about: 'writes docs/benchmarks.md and the table of README.md from docs/benchmarks.json',
    load: () => import('./write-pages.ts'),
  },
  guard: {
    about: 'whether a ratio of docs/benchmarks.md got worse, in three minutes',
    load: () => import('./guard.ts'),
  },
  inbound: {
    about: 'SMTP in to the 250 and to the webhook, beside Postfix and Haraka',
    load: () => import('./inbound.ts'),
  },
  outbound: { about: 'POST /emails to a sink, beside nodemailer and Postfix', load: () => import('./outbound.ts') },
  quiet: { about: 'idle, and at 20 messages per second', load: () => import('./quiet.ts') },
  api: { about: 'REST, lists and search beside a bare Fastify service', load: () => import('./api.ts') },
  delivery: { about: 'due webhooks beside bare undici', load: () => import('./delivery.ts') },
  ordering: {
    about: 'webhooks in the order of their conversations, beside unordered ones',
    load: () => import('./ordering.ts'),
  },
  fairness: { about: 'one user’s mail while another’s causes trouble', load: () => import('./fairness.ts') },
  exhaustion: {
    about: 'one account’s requests while another’s large responses attack the gateway',
    load: () => import('./exhaustion.ts'),
  },
  cores: { about: 'one core, two cores, and each actor twice', load: () => import('./cores.ts') },
  capacity: { about: 'what a message costs each process', load: () => import('./capacity.ts') },
  sustained: { about: 'a steady rate for minutes: does a backlog grow?', load: () => import('./sustained.ts') },
  memory: { about: 'npm start with 1 GB of memory, at rest and under load', load: () => import('./memory.ts') },
  'gateway-load': { about: 'whether requests delay SMTP', load: () => import('./gateway-load.ts') },
  backlog: { about: 'a backlog of 50,000 webhooks: rate, order and memory', load: () => import('./backlog.ts') },
  import: { about: 'postroom import: 10,000 real messages from a Maildir', load: () => import('./import.ts') },
  threads: {
    about: 'lists, searches and threads at 10,000 and 1,000,000 messages',
    load: () => import('./threads.ts'),
  },
  graphql: { about: 'lists and pages beside REST, and subscriptions', load: () => import('./graphql.ts') },
  dashboard: { about: 'the dashboard in Chromium', load: () => import('./dashboard.ts') },
  workspaces: {
    about: 'lists, searches and admission beside 10,000 workspaces, with 50 members',
    load: () => import('./workspaces.ts'),
  },
  screening: {
    about: 'what screening a message costs, with and without rspamd and clamd',
    load: () => import('./screening.ts'),
  },
  retention: { about: 'removes the mail of one large mailbox', load: () => import('./retention.ts') },
};

const usage = [
  'usage: npm run bench -- NAME [options]',
  '       npm run bench -- NAME --help',
  '',
  ...Object.entries(benchmarks).map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`),
].join('\n');

const [name = '', ...args] = process.argv.slice(2);
const benchmark = benchmarks[name];
if (name === 'part') {
  await measureInProcess(args);
  // Not even a handle that was forgotten delays the next part.
  process.exit();
} else if (benchmark === undefined) {
  const isHelp = name === '--help';
  (isHelp ? console.log : console.error)(usage);
  process.exitCode = isHelp ? 0 : 2;
} else {
  const { run, help } = await benchmark.load();
  if (args.includes('--help')) console.log(`npm run bench -- ${name} [options]\n\n${help}`);
  else
    await run(args).catch((error: unknown) => {
      const isUsage =
        error instanceof UsageError || String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS');
      console.error(isUsage ? `${(error as Error).message}\n\n${help}` : error);
      process.exitCode = isUsage ? 2 : 1;
    });
}
