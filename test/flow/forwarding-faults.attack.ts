import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { killsPerPoint } from '../support/chaos-figures.ts';
import { until } from '../support/servers/service.ts';
import { ForwardingStage } from '../support/stages/forwarding-stage.ts';
import { readField } from '../support/stages/sending-stage.ts';

const LIMIT_MS = 60_000 + killsPerPoint * 180_000;
const LEASE_SECONDS = 30;
/** Offered for each kill, to an address and to a group of two. */
const MAILS = 4;

let stage: ForwardingStage;
let address: string;
let group: string;
let count = 0;

beforeAll(async () => {
  const processes = ['gateway', 'smtp', 'receiving', 'threading', 'sending'];
  stage = await ForwardingStage.start('split', { FORWARD_LIMIT_PER_HOUR: '0' }, { processes });
  ({ address } = await stage.forwarding({ forwardTo: 'one@elsewhere.test' }));
  ({ address: group } = await stage.forwarding({ emails: ['two@elsewhere.test', 'three@elsewhere.test'] }));
}, 300_000);
afterAll(() => stage?.stop());
afterEach(() => stage.sending.sink.respond({}));

function waitForExit(name: string): Promise<number | null> {
  const child = stage.sending.service.processes.get(name);
  return new Promise((resolve) => void child?.once('exit', (code) => resolve(code)));
}

async function offerSome(): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < MAILS; n++) {
    const to = n % 2 === 0 ? address : group;
    ids.push(await stage.offer(to, `Subject: Mail ${count}\r\nMessage-ID: <${count++}@peer.test>\r\n\r\nHello\r\n`));
  }
  await until(
    'their threads are assigned',
    () => stage.sending.service.output.slice(-2000),
    async () => {
      const [row] = await stage.sending.query<{ open: number }>(
        `select count(*)::int as open from unnest($1::text[]) i(id)
         where not exists (select from email e where e.id = i.id and e.thread_id is not null)`,
        [ids],
      );
      return row?.open === 0;
    },
  );
  return ids;
}

/** Awaits that all are settled; returns how many copies came of each delivery at each address. */
async function settle(ids: readonly string[]): Promise<number[]> {
  await until(
    'every delivery is settled',
    () => stage.sending.service.output.slice(-3000),
    async () => {
      const deliveries = await stage.listDeliveries(...ids);
      return deliveries.length === ids.length && deliveries.every(({ status }) => status !== 'pending');
    },
  );
  const deliveries = await stage.listDeliveries(...ids);
  expect(deliveries.map(({ status, attempts }) => [status, attempts])).toEqual(ids.map(() => ['success', 1]));
  return deliveries.flatMap(({ id, recipients }) =>
    recipients.map(
      (recipient) =>
        stage.sending.sink.messages.filter(
          (message) =>
            message.recipients.includes(recipient.address) && readField(message.bytes, 'Message-ID')?.includes(id),
        ).length,
    ),
  );
}

const points = ['forward.claimed', 'forward.composed', 'forward.stored'];
test(
  `the delivery actor killed ${killsPerPoint} times at each of ${points.join(', ')}: every copy arrives, once`,
  async () => {
    const { service } = stage.sending;
    const ids: string[] = [];
    await service.end('delivery', 'SIGTERM');
    for (const point of points.flatMap((each) => Array.from({ length: killsPerPoint }, () => each))) {
      ids.push(...(await offerSome()));
      service.startProcess('delivery', { FAULT: point });
      expect(await waitForExit('delivery'), `${point} was reached`).toBe(137);
      const held = (await stage.listDeliveries(...ids)).filter(({ status }) => status === 'pending');
      expect(held.length, 'it was killed with work in hand').toBeGreaterThan(0);
      await stage.sending.passSeconds(LEASE_SECONDS + 1);
    }
    service.startProcess('delivery');
    const copies = await settle(ids);
    expect(copies).toEqual(copies.map(() => 1));
    expect(copies).toHaveLength((ids.length / 2) * 3);
  },
  LIMIT_MS,
);

test(
  `the sending actor killed ${killsPerPoint} times when the server had taken a copy: nothing is lost, and at most one is doubled per kill`,
  async ({ annotate }) => {
    const { service } = stage.sending;
    const ids: string[] = [];
    service.ensureProcess('delivery');
    await service.end('sending', 'SIGTERM');
    for (let kill = 0; kill < killsPerPoint; kill++) {
      ids.push(...(await offerSome()));
      await until(
        'copies are queued',
        () => service.output.slice(-2000),
        async () => (await stage.listDeliveries(...ids)).every(({ recipients }) => recipients.length > 0),
      );
      let isTaken = false;
      stage.sending.sink.respond({
        data() {
          if (isTaken) return 'hang';
          isTaken = true;
          return undefined;
        },
      });
      service.startProcess('sending', { FAULT: 'sending.sent' });
      expect(await waitForExit('sending'), 'sending.sent was reached').toBe(137);
      stage.sending.sink.respond({});
      await stage.sending.passSeconds(LEASE_SECONDS + 1);
    }
    service.startProcess('sending');
    const copies = await settle(ids);
    const doubled = copies.reduce((sum, each) => sum + each - 1, 0);
    await annotate(`${copies.length} copies, ${doubled} doubled`);
    expect(Math.min(...copies)).toBe(1);
    // A transaction may have two recipients of a group.
    expect(doubled).toBeLessThanOrEqual(2 * killsPerPoint);
  },
  LIMIT_MS,
);
