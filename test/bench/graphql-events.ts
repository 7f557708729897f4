import { setTimeout as sleep } from 'node:timers/promises';
import { BenchChild } from './child.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import type { PostroomServer } from './postroom-server.ts';
import { percentile } from './statistics.ts';

/** The last mail must have been told of by then; milliseconds. */
const DRAIN_LIMIT_MS = 30_000;
const WARM_UP = 100;

const QUERY = 'subscription { emailReceived { email { id subject thread { id } } } }';

/** Sends mail at a steady rate and prints how long after its 250 a subscriber to emailReceived is told of each, with its thread. */
export async function measureEvents(
  server: PostroomServer,
  { mails, perSecond }: { mails: number; perSecond: number },
): Promise<void> {
  const { id: domainId } = (await server.call('POST', '/domains', { domain: 'bench.test' })) as { id: string };
  await server.call('POST', '/email-addresses', { address: 'live@bench.test', domainId });
  const loader = new BenchChild('./load-process.ts');
  const toldAt = new Map<string, number>();
  const hangUp = new AbortController();
  const response = await fetch(`http://127.0.0.1:${server.httpPort}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.apiKey}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: QUERY }),
    signal: hangUp.signal,
  });
  if (!response.ok || response.body === null) throw new Error(`the subscription was refused: ${await response.text()}`);
  const reading = readStream(response.body, toldAt).catch(() => undefined);
  const send = (tag: string, count: number) =>
    loader.ask<LoadReport>({
      port: server.smtpPort,
      recipient: 'live@bench.test',
      count,
      sessions: 5,
      isReusingConnections: true,
      sizeBytes: 4_096,
      tag,
      perSecond,
    } satisfies LoadOrder);
  await send('warm', WARM_UP);
  const report = await send('live', mails);
  if (report.accepted !== mails) throw new Error(`refused: ${report.refused.slice(0, 3).join(' | ')}`);
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  const isTold = (n: number) => toldAt.has(makeSubject('live', n));
  while (!Array.from({ length: mails }, (_, n) => n).every(isTold)) {
    if (performance.now() > deadline) throw new Error(`${toldAt.size} of ${WARM_UP + mails} mails were told of`);
    await sleep(50);
  }
  hangUp.abort();
  await reading;
  loader.stop();
  const waits = report.startedAt.map(
    (at, n) => (toldAt.get(makeSubject('live', n)) ?? Number.NaN) - at - (report.replyMs[n] ?? Number.NaN),
  );
  console.log(
    `from the 250 to the subscriber, ${mails} mails of 4 KB at ${perSecond}/s: p50 ${percentile(waits, 0.5).toFixed(1)} p99 ${percentile(waits, 0.99).toFixed(1)} highest ${Math.max(...waits).toFixed(1)} ms; every mail was told of once, with its thread`,
  );
}

function makeSubject(tag: string, n: number): string {
  return `Order ${tag} ${n} has a question`;
}

/** Notes when each mail is told of. Throws when one is told of twice, or without its thread. */
async function readStream(body: ReadableStream<Uint8Array>, toldAt: Map<string, number>): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    const at = performance.timeOrigin + performance.now();
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      if (data === undefined || data === '') continue;
      const { data: told, errors } = JSON.parse(data) as {
        data?: { emailReceived: { email: { subject: string; thread: { id: string } | null } | null } };
        errors?: unknown;
      };
      const email = told?.emailReceived.email;
      if (errors !== undefined || email == null || email.thread === null) throw new Error(`unexpected event: ${data}`);
      if (toldAt.has(email.subject)) throw new Error(`told twice: ${email.subject}`);
      toldAt.set(email.subject, at);
    }
  }
}
