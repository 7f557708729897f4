import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { killsPerPoint } from '../support/chaos-figures.ts';
import { freePort } from '../support/cluster/cluster.ts';
import { seededRandom } from '../support/rows/thread-mail.ts';
import { callers, type ServiceResponse, type TestAccount, until } from '../support/servers/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import {
  type ApiSend,
  awaitSettled,
  checkSendingLedger,
  type SendingLedgerReport,
} from '../support/stages/sending-ledger.ts';
import { readMessageId, SendingStage } from '../support/stages/sending-stage.ts';

/** Each kill may cost a start of a process on a machine that is busy. */
const LIMIT_MS = 60_000 + killsPerPoint * 180_000;
const LEASE_SECONDS = 30;

let stage: SendingStage;
let sender: string;
const sends: ApiSend[] = [];
/** See SendingLedgerOrder. */
const inHand: string[] = [];
let count = 0;
let doubledBefore = 0;
/** Of the moments of kills and cuts. */
const random = seededRandom(3);

beforeAll(async () => {
  stage = await SendingStage.start('split', {}, { processes: ['gateway'] });
  sender = `hello@${stage.account.domain}`;
}, 300_000);
afterAll(() => stage?.stop());

/** Starts the processes that are not running. */
function run(...names: string[]): void {
  for (const name of names) stage.service.ensureProcess(name);
}

/** A new email; every third goes to two recipients in one transaction. */
function compose(over: Record<string, unknown> = {}): { from: string; to: string[] } & Record<string, unknown> {
  const n = count++;
  const to = n % 3 === 0 ? [`r${n}@elsewhere.test`, `s${n}@elsewhere.test`] : [`r${n}@elsewhere.test`];
  return { from: sender, to, subject: `Ledger ${n}`, text: `Body ${n}`, ...over };
}

/** Sends new emails at once and writes them into the book. */
function send(emails: number, over: Record<string, unknown> = {}): Promise<ServiceResponse[]> {
  return Promise.all(
    Array.from({ length: emails }, async () => {
      const body = compose(over);
      const response = await stage.account.call('POST', '/emails', body);
      book(response, body.to);
      return response;
    }),
  );
}

function book(response: ServiceResponse | null, recipients: string[]): void {
  const isAccepted = response !== null && response.status < 300;
  const [id, messageId] = isAccepted ? [response.body.id, response.body.message_id] : [null, null];
  sends.push({ status: response?.status ?? null, id, messageId, recipients });
}

/** Sends emails, some at once, until that is done. */
async function underLoad(act: () => Promise<void>): Promise<void> {
  let isOver = false;
  const load = (async () => {
    while (!isOver) await send(10);
  })();
  try {
    await act();
  } finally {
    isOver = true;
    await load;
  }
}

/** Lets one message through to the sink and holds all others before their data; returns how to open it, when those held are dropped. */
function letOneThrough(): () => void {
  const { promise, resolve } = Promise.withResolvers<'drop'>();
  let isTaken = false;
  stage.sink.respond({
    data() {
      if (isTaken) return promise;
      isTaken = true;
      return undefined;
    },
  });
  return () => {
    stage.sink.respond({});
    resolve('drop');
  };
}

/** Awaits that what killed processes of that kind had asked of PostgreSQL is done or undone. */
function awaitDisconnected(kind: string): Promise<void> {
  return until(
    `no connection of a killed ${kind} is left`,
    () => '',
    async () => {
      const [row] = await stage.query<{ open: number }>(
        'select count(*)::int as open from pg_stat_activity where application_name = $1',
        [`postroom ${kind}`],
      );
      return row?.open === 0;
    },
  );
}

/** The Message-IDs of emails that sending actors had claimed when they were killed. */
async function claimsLeft(): Promise<string[]> {
  await awaitDisconnected('sending');
  const rows = await stage.query<{ message_id: string }>(
    `select distinct e.message_id from recipient r join email e on e.workspace_id = r.workspace_id and e.id = r.email_id
     where r.status = 'pending' and r.claimed_by is not null and r.claimed_until > postroom_now()`,
  );
  return rows.map((row) => row.message_id);
}

/** Awaits that nothing waits any more, then that I4 holds; returns the counts, `doubled` being that since the last time. */
async function settle(): Promise<SendingLedgerReport> {
  const databaseUrl = await stage.service.databaseUrl();
  await awaitSettled(databaseUrl, 180_000).catch((error: unknown) => {
    throw new Error(stage.service.output.slice(-3000), { cause: error });
  });
  const report = await checkSendingLedger({ databaseUrl, sends, messages: stage.sink.messages, inHand });
  expect(report.violations).toEqual([]);
  expect(report.accepted).toBe(sends.length);
  const doubled = report.doubled - doubledBefore;
  doubledBefore = report.doubled;
  return { ...report, doubled };
}

/** Awaits that the process of that name says that it works. */
function awaitWorking(name: string): Promise<void> {
  const isReady = (line: string) =>
    line.includes('"process.ready"') && line.includes(`"pid":${stage.service.processes.get(name)?.pid},`);
  return until(
    `${name} works`,
    () => stage.service.output.slice(-2000),
    async () => stage.service.output.split('\n').some(isReady),
  );
}

function waitForExit(name: string): Promise<number | null> {
  const child = stage.service.processes.get(name);
  return new Promise((resolve) => void child?.once('exit', (code) => resolve(code)));
}

describe('the sending actor', () => {
  const points = ['sending.claimed', 'sending.sent', 'sending.recorded'];

  test(
    `killed ${killsPerPoint} times at each of ${points.join(', ')}: nothing is lost, and doubled is only what the sink took and we had not written down`,
    async () => {
      const takenUnrecorded: (string | null)[] = [];
      await stage.service.end('sending', 'SIGTERM');
      for (const point of points.flatMap((each) => Array.from({ length: killsPerPoint }, () => each))) {
        await send(4);
        const open = letOneThrough();
        try {
          const before = stage.sink.messages.length;
          stage.service.startProcess('sending', { FAULT: point });
          expect(await waitForExit('sending'), `${point} was reached`).toBe(137);
          const left = await claimsLeft();
          expect(left.length, 'it was killed with work in hand').toBeGreaterThan(0);
          inHand.push(...left);
          const taken = stage.sink.messages.slice(before);
          expect(taken).toHaveLength(point === 'sending.claimed' ? 0 : 1);
          if (point === 'sending.sent') takenUnrecorded.push(...taken.map(readMessageId));
        } finally {
          open();
        }
        await stage.passSeconds(LEASE_SECONDS + 1);
      }
      stage.service.startProcess('sending');
      const { doubled } = await settle();
      expect(doubled).toBe(killsPerPoint);
      for (const messageId of takenUnrecorded) {
        const kills = takenUnrecorded.filter((each) => each === messageId).length;
        expect(stage.sink.messages.filter((message) => readMessageId(message) === messageId)).toHaveLength(kills + 1);
      }
    },
    LIMIT_MS,
  );
});

describe('the scheduling actor', () => {
  const points = ['scheduling.claimed', 'scheduling.before-commit', 'scheduling.after-commit'];

  test(
    `killed ${killsPerPoint} times at each of ${points.join(', ')}: each scheduled email goes once`,
    async () => {
      run('sending');
      await stage.service.end('scheduling', 'SIGTERM');
      for (const point of points.flatMap((each) => Array.from({ length: killsPerPoint }, () => each))) {
        const responses = await send(3, { scheduled_at: await stage.instantIn(120) });
        expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
        await stage.passSeconds(120);
        stage.service.startProcess('scheduling', { FAULT: point });
        expect(await waitForExit('scheduling'), `${point} was reached`).toBe(137);
        await awaitDisconnected('scheduling');
        const ids = responses.map(({ body }) => body.id);
        const rows = await stage.query<{ type: string }>('select type from email where id = any ($1)', [ids]);
        const expected = point === 'scheduling.after-commit' ? 'sent' : 'scheduled';
        expect(rows.map(({ type }) => type)).toEqual([expected, expected, expected]);
      }
      stage.service.startProcess('scheduling');
      await awaitReleased();
      expect((await settle()).doubled).toBe(0);
    },
    LIMIT_MS,
  );

  test('two of them, and many emails of one instant: each goes once', async () => {
    run('sending', 'sending-2', 'scheduling', 'scheduling-2');
    await send(60, { scheduled_at: await stage.instantIn(120) });
    await stage.passSeconds(120);
    await awaitReleased();
    expect((await settle()).doubled).toBe(0);
    await stage.service.end('scheduling-2', 'SIGTERM');
  });
});

async function awaitReleased(): Promise<void> {
  await until(
    'nothing due is scheduled any more',
    () => stage.service.output.slice(-2000),
    async () => {
      const [row] = await stage.query<{ due: number }>(
        `select count(*)::int as due from email where status = 'scheduled' and scheduled_at <= postroom_now()`,
      );
      return row?.due === 0;
    },
  );
}

describe('two sending actors', () => {
  test(
    `both killed ${killsPerPoint} times at random under load: I4 holds`,
    async ({ annotate }) => {
      for (let kill = 0; kill < killsPerPoint; kill++) {
        run('sending', 'sending-2');
        await Promise.all(['sending', 'sending-2'].map(awaitWorking));
        await underLoad(async () => {
          const before = stage.sink.messages.length;
          await stage.sink.until(({ messages }) => messages.length > before + 20 + Math.floor(random() * 40));
          // Both at once: whose work it was cannot be told from outside, and both must be gone for the claims to stand still.
          const died = [waitForExit('sending'), waitForExit('sending-2')];
          for (const name of ['sending', 'sending-2']) stage.service.processes.get(name)?.kill('SIGKILL');
          await Promise.all(died);
        });
        inHand.push(...(await claimsLeft()));
        await stage.passSeconds(LEASE_SECONDS + 1);
      }
      run('sending');
      const { accepted, doubled } = await settle();
      await annotate(`${killsPerPoint} kills, ${accepted} emails so far, ${doubled} doubled`);
    },
    LIMIT_MS,
  );
});

describe('what sending leans on', () => {
  test('the connections to PostgreSQL are cut under load, again and again: nothing is lost, and nothing doubled without a kill', async ({
    annotate,
  }) => {
    run('sending');
    let cuts = 0;
    await underLoad(async () => {
      for (let round = 0; round < 3 * killsPerPoint; round++) {
        const before = stage.sink.messages.length;
        await stage.sink.until(({ messages }) => messages.length > before + Math.floor(random() * 20));
        const rows = await stage.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'postroom sending'`,
        );
        cuts += rows.length;
      }
    });
    expect(cuts).toBeGreaterThan(0);
    // Of what was claimed by a statement whose answer was lost nobody knows; its lease has to run out.
    await stage.passSeconds(LEASE_SECONDS + 1);
    const { accepted, doubled } = await settle();
    await annotate(`${cuts} connections cut, ${accepted} emails so far`);
    expect(doubled).toBe(0);
  });

  test('NATS is away: requests to send get their response and go out by the sweep, and go out when it is back', async () => {
    run('sending');
    await stage.service.end('nats', 'SIGKILL');
    const first = await send(4);
    expect(first.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await stage.awaitMessage(first.at(-1)?.body.message_id);
    stage.service.startProcess('nats');
    for (const response of await send(3)) await stage.awaitMessage(response.body.message_id);
    expect((await settle()).doubled).toBe(0);
  });
});

describe('the gateway', () => {
  beforeAll(() => run('sending'));
  const REQUESTS = 200;

  test(
    `killed ${killsPerPoint} times during ${REQUESTS} sends at once with keys, which clients repeat: one email for each key, none lost`,
    async ({ annotate }) => {
      const proxy = await startTcpProxy({ host: '127.0.0.1', port: stage.service.httpPort });
      try {
        for (let kill = 0; kill < killsPerPoint; kill++) {
          const { heard, unheard } = await killDuringSends(kill, proxy);
          await annotate(`${heard} were answered before the kill, ${unheard} were stored and not answered`);
        }
        expect((await settle()).doubled).toBe(0);
      } finally {
        await proxy.close();
      }
    },
    LIMIT_MS,
  );

  test('killed before and after the commit that sends a draft: the draft is there, or its email, and it goes once', async () => {
    const body = compose();
    const draft = await stage.account.call('POST', '/drafts', body);
    const send = () =>
      stage.account.call('POST', `/drafts/${draft.body.id}/send`, { version: 1 }, { 'idempotency-key': 'draft' });
    const counts = async () => {
      await awaitDisconnected('gateway');
      const [row] = await stage.query<{ drafts: number; emails: number }>(
        `select (select count(*)::int from draft) as drafts,
           (select count(*)::int from email where subject = $1) as emails`,
        [body['subject']],
      );
      return row;
    };
    for (const [point, left] of [
      ['drafts.before-commit', { drafts: 1, emails: 0 }],
      ['drafts.after-commit', { drafts: 0, emails: 1 }],
    ] as const) {
      await killGatewayAt(point, send);
      expect(await counts()).toEqual(left);
    }
    await startKilledGateway();
    const response = await send();
    expect(response.status).toBe(200);
    book(response, body.to);
    expect((await settle()).doubled).toBe(0);
  });

  test('killed before and after the commits that store mail for approval and decide about it: an approved one is sent once', async () => {
    const body = compose();
    const key = await stage.account.call('POST', '/api-keys', { name: 'agent', policy: { approval: 'always' } });
    // Of another family than the key that approves, as one that was created in the dashboard.
    await stage.query(`update api_key set parent_id = null, family_id = id where id = $1`, [key.body.id]);
    const agent = callers(stage.service.url, key.body.token);
    const send = () => agent.call('POST', '/emails', body, { 'idempotency-key': 'waits' });
    const stored = async () => {
      const [row] = await stage.query<{ id: string; status: string; events: string[] }>(
        `select e.id, e.status, array(select kind from event v where v.workspace_id = e.workspace_id and v.email_id = e.id and v.kind like 'email.app%') as events
         from email e where e.subject = $1`,
        [body['subject']],
      );
      return row;
    };
    const state = async () => {
      await awaitDisconnected('gateway');
      return stored();
    };
    const approve = async () => stage.account.call('POST', `/emails/${(await stored())?.id}/approve`, undefined);
    for (const [point, act, status, events] of [
      ['approvals.stored-before-commit', send, undefined, undefined],
      ['approvals.stored-after-commit', send, 'awaiting_approval', ['email.approval_requested']],
      ['approvals.decided-before-commit', approve, 'awaiting_approval', ['email.approval_requested']],
      ['approvals.decided-after-commit', approve, 'scheduled', ['email.approval_requested', 'email.approved']],
    ] as const) {
      await killGatewayAt(point, act);
      const left = await state();
      expect([left?.status, left?.events]).toEqual([status, events]);
    }
    await startKilledGateway();
    const response = await send();
    expect([response.status, response.body.status]).toEqual([200, 'queued']);
    book(response, body.to);
    // The wake was lost with the gateway: the scheduling actor finds it by itself.
    run('scheduling');
    await awaitReleased();
    expect((await settle()).doubled).toBe(0);
    expect((await stored())?.status).toBe('delivered');
  });

  /** Starts a gateway that dies at that point, and lets it do what leads there. */
  async function killGatewayAt(point: string, act: () => Promise<unknown>): Promise<void> {
    await stage.service.end('gateway', 'SIGTERM');
    stage.service.startProcess('gateway', { FAULT: point });
    await stage.service.awaitReady();
    const exit = waitForExit('gateway');
    await Promise.all([act().catch(() => null), exit]);
    expect(await exit, `${point} was reached`).toBe(137);
  }

  async function startKilledGateway(): Promise<void> {
    stage.service.startProcess('gateway');
    await stage.service.awaitReady();
  }

  /**
   * Returns how many clients were answered before the kill, and how many were not although their email was stored: of every other kill
   * the clients hear nothing any more a while before.
   */
  async function killDuringSends(kill: number, proxy: TcpProxy): Promise<{ heard: number; unheard: number }> {
    const isUnheard = kill % 2 === 1;
    const killAfter = 1 + Math.floor((REQUESTS * 0.6 * kill) / killsPerPoint);
    const { call } = callers(`http://127.0.0.1:${proxy.port}`, stage.account.apiKey);
    const heard = new Map<string, string>();
    const enough = Promise.withResolvers<void>();
    const back = Promise.withResolvers<void>();
    const client = async (n: number): Promise<() => Promise<void>> => {
      const key = `kill-${kill}-${n}`;
      const body = compose();
      const post = () => call('POST', '/emails', body, { 'idempotency-key': key }).catch(() => null);
      /** Comes again after no response, 409 and 503, as clients are told to, once there is a gateway. */
      const insist = async (): Promise<ServiceResponse> => {
        let response = await post();
        await until(
          `${key} is answered`,
          () => JSON.stringify(response?.body),
          async () => {
            if (response !== null && ![409, 503].includes(response.status)) return true;
            await back.promise;
            response = await post();
            return false;
          },
        );
        if (response === null) throw new Error('unreachable');
        expect([key, response.status]).toEqual([key, 200]);
        return response;
      };
      // Some begin in the moment of the kill, which so meets open requests however fast the others were answered.
      if (n >= REQUESTS * 0.8) await enough.promise;
      const response = await insist();
      book(response, body.to);
      heard.set(key, response.body.id);
      if (heard.size === killAfter) enough.resolve();
      return async () => expect([key, (await insist()).body]).toEqual([key, response.body]);
    };
    const clients = Promise.all(Array.from({ length: REQUESTS }, (_, n) => client(n)));
    await enough.promise;
    if (isUnheard) {
      proxy.setMode('stall');
      await until(
        'more is stored than was answered',
        () => '',
        async () => (await storedKeys(kill)).length > heard.size,
      );
    }
    await stage.service.end('gateway', 'SIGKILL');
    proxy.setMode('refuse');
    await awaitDisconnected('gateway');
    const heardBefore = heard.size;
    const unheard = (await storedKeys(kill)).filter(({ key }) => !heard.has(key)).length;
    expect(heardBefore, 'the kill met open requests').toBeLessThan(REQUESTS);
    if (isUnheard) expect(unheard, 'the kill came between commit and answer').toBeGreaterThan(0);

    stage.service.startProcess('gateway');
    await stage.service.awaitReady();
    proxy.setMode('pass');
    back.resolve();
    const repetitions = await clients;
    expect(heard.size).toBe(REQUESTS);
    const stored = await storedKeys(kill);
    expect(new Map(stored.map(({ key, ids }) => [key, ids.join()]))).toEqual(heard);
    const [emails] = await stage.query<{ count: number }>('select count(*)::int as count from email');
    expect(emails?.count, 'no email that no client knows of').toBe(sends.length);
    await Promise.all(repetitions.map((repeat) => repeat()));
    return { heard: heardBefore, unheard };
  }

  function storedKeys(kill: number): Promise<{ key: string; ids: string[] }[]> {
    return stage.query(
      `select key, array(select jsonb_array_elements(response->'emails')->>'id') as ids from idempotency_key
       where workspace_id = $1 and key like $2`,
      [stage.account.workspaceId, `kill-${kill}-%`],
    );
  }
});

describe('two gateways', () => {
  let one: TestAccount['call'];
  let other: TestAccount['call'];

  beforeAll(async () => {
    run('sending');
    one = (...request) => stage.account.call(...request);
    other = await startGateway('gateway-2');
  });

  test('an Idempotency-Key makes one email whichever gateway is asked, for 24 hours and one user', async () => {
    // Both are as fast as they get after some rounds, and then as near to each other as they come.
    for (let round = 0; round < 4; round++)
      await Promise.all(Array.from({ length: 8 }, (_, n) => race(`race-${round}-${n}`)));
    const body = compose();
    const headers = { 'idempotency-key': 'of two gateways' };
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : other)('POST', '/emails', body, headers)),
    );
    const [first] = responses;
    for (const response of responses) expect([response.status, response.body]).toEqual([200, first?.body]);
    book(first ?? null, body.to);

    for (const call of [one, other]) {
      const conflict = await call('POST', '/emails', { ...body, text: 'Another' }, headers);
      expect([conflict.status, conflict.headers.get('x-should-retry')]).toEqual([409, 'false']);
    }
    const stranger = await stage.service.createAccount();
    const theirs = { ...body, from: `hello@${stranger.domain}` };
    const foreign = await stranger.call('POST', '/emails', theirs, headers);
    expect(foreign.status).toBe(200);
    expect(foreign.body.id).not.toBe(first?.body.id);
    book(foreign, body.to);

    await stage.passSeconds(24 * 3_600);
    const next = await one('POST', '/emails', body, headers);
    expect(next.status).toBe(200);
    expect(next.body.id).not.toBe(first?.body.id);
    book(next, body.to);
    expect((await settle()).doubled).toBe(0);
  });

  /** Asks both gateways at once. */
  async function race(key: string): Promise<void> {
    const body = compose();
    const responses = await Promise.all(
      [one, other].map((call) => call('POST', '/emails', body, { 'idempotency-key': key })),
    );
    const [first] = responses;
    for (const response of responses) expect([response.status, response.body]).toEqual([200, first?.body]);
    book(first ?? null, body.to);
  }
});

/** One more gateway, on a port of its own; returns how to call it as the stage's account. */
async function startGateway(name: string, environment: Record<string, string> = {}): Promise<TestAccount['call']> {
  const port = await freePort();
  stage.service.startProcess(name, { HTTP_PORT: String(port), ...environment });
  const url = `http://127.0.0.1:${port}`;
  await until(
    `${name} is ready`,
    () => stage.service.output.slice(-2000),
    async () => (await fetch(`${url}/ready`)).ok,
  );
  return callers(url, stage.account.apiKey).call;
}
