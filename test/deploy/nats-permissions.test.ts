import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { connect, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectNatsBus } from '../../actors/bus/nats.ts';
import { type Bus, broadcasts, questions, type Request, wakes } from '../../schema/messages.ts';
import { type Role, type RoleNats, roles, startRoleNats } from '../support/servers/role-nats.ts';
import { until } from '../support/servers/service.ts';

const root = path.resolve(import.meta.dirname, '../..');
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Where the code of each role lies. */
const foldersByRole: Record<Role, string[]> = {
  // The doctor enters as a gateway.
  gateway: ['gateway', 'operations', 'bin/doctor'],
  smtp: ['haraka-plugins'],
  receiving: ['actors/receiving'],
  threading: ['actors/threading'],
  sending: ['actors/sending'],
  scheduling: ['actors/scheduling'],
  delivery: ['actors/delivery'],
};

const taken = [...Object.keys(questions), ...Object.keys(wakes)];
const subjects = [...taken, ...Object.keys(broadcasts)];

describe('Each role has exactly the NATS permissions that its code needs:', () => {
  let server: RoleNats;
  beforeAll(async () => {
    server = await startRoleNats();
  });
  afterAll(() => server?.close());

  test.each(roles)('%s publishes', async (role) => {
    const asker = await enter(server.readUrl(role));
    const tried = [
      ...subjects,
      `stream.receiving.x`,
      'stream.gateway.x',
      'stream.delivery.x',
      `inbox.gateway.x.1`,
      `inbox.smtp.x.1`,
    ];
    for (const subject of tried) asker.connection.publish(`postroom.${subject}`, 'x');
    asker.connection.publish('$SYS.REQ.SERVER.PING', 'x');
    const refused = await asker.refused();
    const allowed = tried.filter((subject) => !refused.includes(`publish postroom.${subject}`));
    expect(allowed.toSorted()).toEqual(publishedBy(role).toSorted());
    expect(refused).toContain('publish $SYS.REQ.SERVER.PING');
  });

  test.each(roles)('%s subscribes', async (role) => {
    const asker = await enter(server.readUrl(role));
    const inboxes = roles.map((other) => `inbox.${other}.x.*`);
    const tried = [
      ...subjects,
      ...inboxes,
      'stream.receiving.x',
      'stream.gateway.x',
      'stream.delivery.x',
      'inbox.>',
      '>',
    ];
    for (const subject of tried) {
      asker.connection.subscribe(`postroom.${subject}`);
      asker.connection.subscribe(`postroom.${subject}`, { queue: 'postroom' });
    }
    const refused = await asker.refused();
    const alone = tried.filter((subject) => !refused.includes(`subscription postroom.${subject}`));
    const ofSeveral = tried.filter((subject) => !refused.includes(`subscription postroom.${subject} postroom`));
    const own = [
      `inbox.${role}.x.*`,
      ...(role === 'receiving' || role === 'gateway' ? [`stream.${role}.x`] : []),
      ...heardBy(role),
    ];
    expect(alone.toSorted()).toEqual(own.toSorted());
    // What one of several servers takes nobody may take beside them.
    expect(ofSeveral.filter((subject) => taken.includes(subject)).toSorted()).toEqual(takenBy(role).toSorted());
  });

  test('clients without credentials or with old ones are refused', async () => {
    await expect(connect({ servers: server.url, timeout: 20_000 })).rejects.toThrow(/authorization/i);
    await expect(connect({ servers: server.url, user: 'gateway', pass: 'gone', timeout: 20_000 })).rejects.toThrow(
      /authorization/i,
    );
  });

  async function enter(url: string) {
    const { host, username: user, password: pass } = new URL(url);
    const connection: NatsConnection = await connect({ servers: host, user, pass, timeout: 20_000 });
    const refusals: string[] = [];
    const watched = (async () => {
      for await (const status of connection.status()) {
        if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) continue;
        const { operation, subject, queue } = status.error;
        refusals.push([operation, subject, ...(queue === undefined || queue === '' ? [] : [queue])].join(' '));
      }
    })();
    return {
      connection,
      async refused() {
        await connection.flush();
        await connection.close();
        await watched;
        return refusals;
      },
    };
  }
});

describe('Roles communicate over the bus with their permissions:', () => {
  let server: RoleNats;
  const buses = new Map<Role, Bus>();
  beforeAll(async () => {
    // Smaller than a message, so that bytes come by the subject that a server opens.
    server = await startRoleNats({ maxPayload: '1MB' });
    for (const role of roles) buses.set(role, connectNatsBus({ url: server.readUrl(role), name: role, log: silent }));
    await until(
      'all are connected',
      () => '',
      () => Promise.resolve([...buses.values()].every((bus) => bus.isConnected())),
    );
  });
  afterAll(async () => {
    for (const bus of buses.values()) await bus.close();
    await server?.close();
  });
  const bus = (role: Role) => buses.get(role) as Bus;

  test.each<Role>(['smtp', 'gateway'])(
    "%s stores a message that is larger than the server's max_payload",
    async (role) => {
      const bytes = new Uint8Array(5_000_000).fill(65);
      const serving = bus('receiving').serve('receiving.message.accept', (_request, got) =>
        Promise.resolve({ verdict: 'accepted', emailIds: [String(got.byteLength)] }),
      );
      await expect.poll(() => ask(role, bytes)).toBe('5000000');
      await serving.stop();
    },
  );

  test('a late reply arrives, and broadcasts reach each gateway', async () => {
    const serving = bus('delivery').serve('delivery.guard.ask', async () => {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return { verdict: 'answered', isMatch: true, reason: '' };
    });
    const heard: string[] = [];
    const listening = bus('gateway').subscribe('event.appended', ({ workspaceId }) => void heard.push(workspaceId));
    await expect
      .poll(
        () =>
          bus('gateway')
            .ask('delivery.guard.ask', { workspaceId: 'u', emailId: 'e', prompt: '' })
            .catch(() => null),
        {
          timeout: 60_000,
        },
      )
      .toMatchObject({ isMatch: true });
    for (const role of ['receiving', 'threading', 'sending', 'scheduling', 'delivery'] as const)
      bus(role).publish('event.appended', { workspaceId: role, lastSeq: 1 });
    await expect.poll(() => heard.length).toBe(5);
    await Promise.all([serving.stop(), listening.stop()]);
  });

  async function ask(role: Role, bytes: Uint8Array): Promise<string | null> {
    const recipient = {
      recipient: 'a@b.test',
      workspaceId: 'u',
      addressId: null,
      domainId: 'd',
      ownAddress: 'a@b.test',
    };
    const request: Request<'receiving.message.accept'> = {
      reversePath: '',
      recipients: [recipient],
      remoteAddress: '192.0.2.1',
      helo: 'x',
      isTls: false,
      traceFields: '',
    };
    const reply = await bus(role)
      .ask('receiving.message.accept', request, { bytes })
      .catch(() => null);
    return reply?.verdict === 'accepted' ? (reply.emailIds[0] ?? null) : null;
  }
});

/** What the role's code asks, wakes and broadcasts, and the subject that bytes go to. */
function publishedBy(role: Role): string[] {
  const found = [
    ...literals(role, /\bbus\.(?:ask|wake|publish)\(\s*'([a-z.-]+)'/g),
    ...literals(role, /\baskReceiving\(\s*context,\s*'([a-z.-]+)'/g),
  ];
  const streams = [
    ...(found.includes('receiving.message.accept') ? ['stream.receiving.x'] : []),
    ...(found.includes('gateway.message.submit') ? ['stream.gateway.x'] : []),
  ];
  return [...new Set([...found, ...streams])];
}

/** Broadcasts that the role's code listens to. */
function heardBy(role: Role): string[] {
  return [...new Set(literals(role, /\bbus\.subscribe\(\s*'([a-z.-]+)'/g))];
}

/** Questions and wakes are called after who takes them. */
function takenBy(role: Role): string[] {
  return taken.filter((subject) => subject.startsWith(`${role}.`));
}

function literals(role: Role, pattern: RegExp): string[] {
  return foldersByRole[role].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('node_modules') && !name.startsWith('dashboard'))
      .flatMap((name) => [...readFileSync(path.join(root, folder, name), 'utf8').matchAll(pattern)])
      .map((match) => match[1] ?? ''),
  );
}
