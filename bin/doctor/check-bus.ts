import { connectNatsBus } from '../../actors/bus/nats.ts';
import { keepNatsConnection } from '../../actors/bus/nats-connection.ts';
import { type Bus, BusRemoteError, BusTimeout } from '../../schema/messages.ts';
import type { Config } from '../config.ts';
import { sizeInWords } from '../runner/progress.ts';
import { describeError, type Finding, toFindings } from './finding.ts';

const { ok, warn, fail, skip } = toFindings('bus');

/** A payload limit that fits the largest message; with a lower limit it is sent in chunks. */
const ADVISED_PAYLOAD_BYTES = 16_777_216;
const LEAST_VERSION = [2, 9] as const;
const CONNECT_LIMIT_MS = 6_000;
const REPLY_LIMIT_MS = 5_000;

/** Checks NATS and whether the actors respond over it. On one machine the bus is inside the service, and the SMTP checks cover it. */
export async function checkBus(config: Config): Promise<Finding[]> {
  const { natsUrl } = config;
  if (natsUrl === null) return [skip('NATS', 'not used, because the service runs as one process')];
  const seen = await lookAtServer(natsUrl);
  if (seen.isConnected === false) return seen.findings;
  const bus = connectNatsBus({ url: natsUrl, name: 'postroom doctor', log: { info() {}, warn() {}, error() {} } });
  try {
    for (const deadline = Date.now() + CONNECT_LIMIT_MS; !bus.isConnected() && Date.now() < deadline; )
      await new Promise((resolve) => setTimeout(resolve, 20));
    return [...seen.findings, ...(await askActors(bus))];
  } finally {
    await bus.close();
  }
}

async function lookAtServer(url: string): Promise<{ isConnected: boolean; findings: Finding[] }> {
  const reasons: string[] = [];
  const note = (about: unknown) => {
    const { err } = about as { err?: unknown };
    if (err !== undefined) reasons.push(describeError(err));
  };
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const connection = keepNatsConnection({
    url,
    name: 'postroom doctor',
    log: { info() {}, warn: note, error: note },
    onConnection: (isUp) => isUp && resolve(),
  });
  try {
    await Promise.race([connected, new Promise((giveUp) => setTimeout(giveUp, CONNECT_LIMIT_MS))]);
    const info = connection.current()?.info;
    if (info === undefined) {
      const reason = reasons[0] ?? 'no reply';
      return {
        isConnected: false,
        findings: [
          fail(
            'NATS',
            `cannot connect to a server of NATS_URL: ${reason}`,
            'Start NATS, or correct the hosts and the user in NATS_URL',
          ),
        ],
      };
    }
    const [major = 0, minor = 0] = info.version.split('.').map(Number);
    const isOld = major < LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor < LEAST_VERSION[1]);
    const servers = new Set(info.connect_urls ?? []).size;
    const isCluster = info.cluster !== undefined && servers > 1;
    return {
      isConnected: true,
      findings: [
        isOld
          ? fail('NATS', `${info.version} is too old`, `Install nats-server ${LEAST_VERSION.join('.')} or newer`)
          : ok(
              'NATS',
              `${info.version}${isCluster ? `, a cluster with ${servers} reachable addresses` : ', one server'}`,
            ),
        info.max_payload >= ADVISED_PAYLOAD_BYTES
          ? ok('max_payload', sizeInWords(info.max_payload))
          : warn(
              'max_payload',
              `${sizeInWords(info.max_payload)}: larger mail is sent in chunks, which is slower`,
              `Set max_payload: ${ADVISED_PAYLOAD_BYTES} in nats.conf`,
            ),
      ],
    };
  } finally {
    await connection.close();
  }
}

/** Questions without side effects, one to each actor that takes questions; threading and sending take none. */
async function askActors(bus: Bus): Promise<Finding[]> {
  const within = { limitMs: REPLY_LIMIT_MS };
  const noWorkspace = { workspaceId: 'doctor' };
  const asked: [actor: string, reply: Promise<unknown>][] = [
    ['receiving', bus.ask('receiving.capacity.check', {}, within)],
    ['scheduling', bus.ask('scheduling.domain.check', { ...noWorkspace, domainIds: ['none'] }, within)],
    [
      'delivery',
      bus.ask(
        'delivery.endpoint.test',
        { ...noWorkspace, endpointId: 'none', webhookFormat: null, overrideUrl: null, event: null },
        within,
      ),
    ],
  ];
  return Promise.all(
    asked.map(async ([actor, reply]) => {
      try {
        await reply;
        return ok(actor, 'responds');
      } catch (error) {
        const fix = `Start it (npx node bin/actor.ts ${actor}) and read its log`;
        if (error instanceof BusRemoteError)
          return fail(actor, `responds with an error: ${describeError(error)}`, 'Read its log');
        if (error instanceof BusTimeout) return fail(actor, `did not respond within ${REPLY_LIMIT_MS / 1000} s`, fix);
        return fail(actor, 'no process responds', fix);
      }
    }),
  );
}
