/** `npm run bench -- NAME [options]`: runs one benchmark; each prints its machine, its figures and its ratios. */
const benchmarks: Record<string, { about: string; load: () => Promise<{ run(args: string[]): Promise<void> }> }> = {
  inbound: {
    about: 'SMTP in to 250 and to webhook, beside bare Haraka and Postfix (--rounds N --sizes 4096,102400 --only NAME)',
    load: () => import('./inbound.ts'),
  },
  sustained: {
    about: '100 messages/s for 10 minutes: does a backlog grow? (--seconds N --rate N)',
    load: () => import('./sustained.ts'),
  },
  delivery: {
    about:
      'a backlog to many endpoints, one of which hangs, beside bare undici posting the same bodies (--rounds N --count N --endpoints N --bytes N --statements)',
    load: () => import('./delivery.ts'),
  },
  backlog: {
    about: 'a backlog of 50,000 webhooks: rate, order and memory (--count N --endpoints N --bytes N)',
    load: () => import('./backlog.ts'),
  },
  outbound: {
    about:
      'POST /emails to a sink, beside a nodemailer pool and Postfix relaying (--rounds N --count N --size N --connections N --only pool,postfix,postroom,split)',
    load: () => import('./outbound.ts'),
  },
  api: {
    about:
      'POST /emails, lists of emails and threads, beside a bare Fastify route with one statement (--rounds N --posts N --reads N --rows N --kinds post,emails,threads --only gateway,start)',
    load: () => import('./api.ts'),
  },
  graphql: {
    about:
      'thread list and thread page by GraphQL beside REST, and from the 250 to a subscriber (--rounds N --reads N --messages N --connections N --mails N --rate N --only reads,events)',
    load: () => import('./graphql.ts'),
  },
  dashboard: {
    about:
      'the dashboard in Chromium: first load, scrolling an inbox of 100,000 threads, from the 250 to the row (--messages N --rows N --mails N)',
    load: () => import('./dashboard.ts'),
  },
  capacity: {
    about:
      'what a message costs each process: CPU, statements, bytes written (--count N --size N --rate N --seconds N --idle-seconds N)',
    load: () => import('./capacity.ts'),
  },
  retention: {
    about: 'removes raw messages, bodies and mail of one large mailbox: rates and longest statements (--messages N)',
    load: () => import('./retention.ts'),
  },
  threads: {
    about: 'list and open threads at 10,000 and 1,000,000 messages of one user',
    load: () => import('./threads.ts'),
  },
};

const [name, ...args] = process.argv.slice(2);
const benchmark = name === undefined ? undefined : benchmarks[name];
if (benchmark === undefined) {
  const lines = Object.entries(benchmarks).map(([key, { about }]) => `  ${key.padEnd(10)} ${about}`);
  console.error(`usage: npm run bench -- NAME [options]\n${lines.join('\n')}`);
  process.exit(2);
}
await (await benchmark.load()).run(args);
