import { voidLeasesByClaimant } from '../../../db/queries/upkeep/void-leases.ts';
import { loadHaraka, startHaraka } from '../../../haraka-plugins/start.ts';
import type { Bus } from '../../../schema/messages.ts';
import { createActorContext, loadActor, startActor } from '../processes/actors.ts';
import { openMailBus, openNatsBus } from '../processes/bus.ts';
import { smtpSettings } from '../processes/smtp-settings.ts';
import { StartRefused } from '../start-refused.ts';
import { type Part, runPart } from './part.ts';

/** PostgreSQL connections of receiving, threading and delivery. */
const CONNECTIONS = 5;
/** Maximum time to drain. `actors/actor.ts` and Haraka allow 8 s plus the time to record outcomes. Milliseconds. */
const DRAIN_LIMIT_MS = 9_700;

/**
 * The mail process of one machine: Haraka, and the actors that a received message passes on its way to a webhook. They share the memory of
 * this process, so that no message crosses a socket.
 */
await runPart({
  name: 'mail',
  isReportingOutages: false,
  load: (log) => Promise.all([loadHaraka(log), ...(['receiving', 'threading', 'delivery'] as const).map(loadActor)]),
  async work(part, deadClaimants) {
    const { config, log, closers, claimant } = part;
    const bus = await openBus(part);
    closers.add('bus', () => bus.close());
    const database = part.open('postroom_actor', CONNECTIONS);
    part.needs(database);
    const count = await voidLeasesByClaimant(database, deadClaimants);
    if (count > 0) log.info({ event: 'part.leases-voided', count }, 'took over the work of a process that died');
    const context = createActorContext({ bus, database, log, claimant });
    const receiving = await startActor('receiving', context, part);
    const others = [await startActor('threading', context, part), await startActor('delivery', context, part)];
    // More processes run bin/smtp.ts, and reach this one over its socket.
    const haraka = config.smtpProcesses === 1 ? await listen(part, bus) : null;
    closers.add(
      'SMTP and actors',
      async () => {
        // Mail that SMTP is receiving needs the receiving actor.
        const smtp = (haraka?.stop() ?? Promise.resolve()).then(() => receiving.stop());
        await Promise.all([smtp, ...others.map((actor) => actor.stop())]);
      },
      DRAIN_LIMIT_MS,
    );
  },
});

async function openBus({ config, busSocket, log }: Part): Promise<Bus> {
  if (config.natsUrl !== null) return openNatsBus(config.natsUrl, 'postroom mail', log);
  if (busSocket === null) throw new Error('neither NATS nor a socket');
  return openMailBus(busSocket, log);
}

async function listen({ config, log }: Part, bus: Bus): ReturnType<typeof startHaraka> {
  const { natsUrl } = config;
  // Over NATS, Haraka has a connection of its own, which forgets its replies when it was lost.
  const settings = smtpSettings(config, natsUrl === null ? { kind: 'own', bus } : { kind: 'nats', url: natsUrl });
  return startHaraka(settings, log).catch((error: unknown) => {
    throw new StartRefused((error as Error).message, { cause: error });
  });
}
