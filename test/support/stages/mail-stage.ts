import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import type { Actor } from '../../../actors/actor.ts';
import { startDeliveryActor } from '../../../actors/delivery/actor.ts';
import { startReceivingActor } from '../../../actors/receiving/actor.ts';
import { createParsePool } from '../../../actors/receiving/parse-pool.ts';
import type { FaultPoint } from '../../../actors/receiving/parse-receptions.ts';
import type { Scanners } from '../../../actors/screening/scanners.ts';
import { startThreadingActor } from '../../../actors/threading/actor.ts';
import { FULL_RIGHTS } from '../../../core/accounts/key-rights.ts';
import { noDmarcRules } from '../../../core/screening/door/dmarc-enforcement.ts';
import { createAddressGuard } from '../../../core/shared/network-address.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { UNBOUNDED_ROOM } from '../../../operations/response-room.ts';
import type { Bus } from '../../../schema/messages.ts';
import { createTestDatabase } from '../cluster/database.ts';
import { offerAcceptedMessage } from '../rows/offer-message.ts';
import { createMailbox, type MailboxOptions, type TestMailbox } from '../rows/routing-rows.ts';
import { testSecretKey } from '../rows/sent-mail.ts';
import { testActorContext } from './actor-context.ts';

/** The actors that mail passes on its way in, over a database of their own, and operations of the gateway's role beside them. */
export interface MailStage {
  /** role postroom_actor */
  database: Database;
  bus: Bus;
  /** a new account with a domain of its own */
  mailbox(options?: Partial<MailboxOptions>): Promise<TestMailbox>;
  /** what an operation of that user is given */
  makeContext(workspaceId: string): OperationContext;
  /** Offers a message as SMTP does; returns the id that its email bears. */
  deliver(bytes: Buffer, recipient: string, reversePath?: string): Promise<string>;
  /** Resolves when all that has come in is parsed, threaded and routed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface MailStageOptions {
  /** the program of the parser's threads: test/support/mail/poisoned-parse-worker.ts plants faults */
  parserProgram?: URL;
  /** null: mail waits for ever behind what is left out */
  withoutActors?: readonly ('receiving' | 'threading' | 'delivery')[];
  hasGuardModel?: boolean;
  /** how long a message may be parsed before its commit; milliseconds */
  readAheadMs?: number;
  /** throws where the receiving process would be killed */
  fault?: (point: FaultPoint) => void;
  /** the scanners for spam and viruses */
  scanners?: Scanners;
}

export async function openMailStage(options: MailStageOptions = {}): Promise<MailStage> {
  const testDatabase = await createTestDatabase();
  const database = testDatabase.open('postroom_actor');
  const gateway = testDatabase.open('postroom_gateway');
  const context = testActorContext(database);
  const { bus } = context;
  const actors: Actor[] = [];
  const without = options.withoutActors ?? [];
  // a closed port: every look-up fails at once
  const dnsServers = ['127.0.0.1:1'];
  if (!without.includes('receiving')) {
    const pool =
      options.parserProgram === undefined
        ? {}
        : { parser: createParsePool({ workers: 1, dnsServers, log: context.log, program: options.parserProgram }) };
    actors.push(
      await startReceivingActor(context, {
        workers: 1,
        dnsServers,
        dataDirectory: null,
        mailHostname: 'mx.test',
        secretKey: testSecretKey,
        ...(options.readAheadMs === undefined ? {} : { readAheadMs: options.readAheadMs }),
        ...(options.scanners === undefined ? {} : { scanners: options.scanners }),
        ...(options.fault === undefined ? {} : { fault: options.fault }),
        ...pool,
      }),
    );
  }
  if (!without.includes('threading')) actors.push(await startThreadingActor(context));
  if (!without.includes('delivery'))
    actors.push(
      await startDeliveryActor(context, {
        publicUrl: 'https://mail.example.test',
        allowedPrivateNetworks: ['127.0.0.0/8'],
        refusedPorts: [],
        secretKey: testSecretKey,
      }),
    );

  const makeContext = (workspaceId: string) =>
    ({
      workspaceId,
      room: UNBOUNDED_ROOM,
      rights: FULL_RIGHTS,
      database: gateway,
      bus,
      log: pino({ level: 'silent' }),
      now: () => new Date(),
      random: randomBytes,
      respondBy: performance.now() + 60_000,
      caller: { gone: new AbortController().signal },
      settings: {
        publicUrl: 'https://mail.example.test',
        mailHostname: 'mx.test',
        trustedDomains: [],
        secretKey: testSecretKey,
        sendLimitPerHour: 0,
        hasGuardModel: options.hasGuardModel ?? false,
        hasSpamFilter: options.scanners !== undefined,
        dmarc: noDmarcRules,
        guard: createAddressGuard({ allowedPrivateNetworks: [], ownPorts: [] }),
      },
    }) as unknown as OperationContext;

  return {
    database,
    bus,
    makeContext,
    mailbox(given = {}) {
      const domain = given.domain ?? `${randomBytes(4).toString('hex')}.test`;
      return createMailbox(database, { address: `hello@${domain}`, ...given, domain });
    },
    deliver: (bytes, recipient, reversePath) => offerAcceptedMessage(bus, bytes, recipient, reversePath),
    async settled() {
      for (;;) {
        const { rows } = await database.pool.query<{ open: number }>(
          `select (select count(*) from reception where parsed_at is null) + (select count(*) from email where thread_id is null and kept_apart is null)
             + (select count(*) from route where outcome is null or outcome = 'asking') as open`,
        );
        if (rows[0]?.open === 0) return;
        await pause(20);
      }
    },
    async close() {
      await Promise.all(actors.map((actor) => actor.stop()));
      await bus.close();
      await testDatabase.drop();
    },
  };
}
