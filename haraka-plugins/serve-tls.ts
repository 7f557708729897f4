import { setInterval } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SmtpSettings } from './settings.ts';
import { makeTlsContext, readTlsCredentials, type TlsContext, type TlsCredentials } from './tls-context.ts';

export interface TlsServing {
  settings: Pick<SmtpSettings, 'tls' | 'dataDirectory' | 'mailHostname'>;
  log: Logger;
  /** sets the TLS context of new sessions */
  use: (context: TlsContext) => void;
}

/**
 * How often the files are read; milliseconds. Their contents are compared, not their metadata, because certificates are renewed by writing,
 * by renaming, and by changing a link of the folder (certbot, Kubernetes).
 */
const LOOK_EVERY_MS = 5_000;

/**
 * Offers TLS with the credentials of the settings, and reloads them when their files change. An unusable pair (half written, a key of
 * another certificate, expired) is rejected with one log line, and the previous one stays in use. Throws when the first pair cannot be
 * used; an expired one can, since most senders do not check.
 */
export async function serveTls({ settings, log, use }: TlsServing): Promise<() => void> {
  const first = await readTlsCredentials(settings);
  const context = makeTlsContext(first);
  use(context);
  tell(log, context);
  if (context.endsAt < new Date())
    log.warn({ event: 'smtp.tls-ended', ...toFacts(context) }, 'the certificate has ended');
  const looking = new AbortController();
  if (settings.tls !== null) void look({ settings, log, use }, first, looking.signal);
  return () => looking.abort();
}

async function look({ settings, log, use }: TlsServing, first: TlsCredentials, signal: AbortSignal): Promise<void> {
  let seen = first;
  let isMissing = false;
  try {
    for await (const _ of setInterval(LOOK_EVERY_MS, undefined, { signal, ref: false })) {
      const found = await readTlsCredentials(settings).catch((error: unknown) => {
        if (!isMissing) refuse(log, error);
        isMissing = true;
        return null;
      });
      if (found === null) continue;
      isMissing = false;
      if (found.key === seen.key && found.cert === seen.cert) continue;
      seen = found;
      try {
        const context = makeTlsContext(found);
        if (context.endsAt < new Date()) throw new Error(`the certificate ended ${context.endsAt.toISOString()}`);
        use(context);
        tell(log, context);
      } catch (error) {
        refuse(log, error);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function tell(log: Logger, context: TlsContext): void {
  log.info({ event: 'smtp.tls', ...toFacts(context) }, 'TLS is offered with this certificate');
}

function toFacts({ subject, names, endsAt }: TlsContext): { subject: string; names: string; endsAt: string } {
  return { subject, names, endsAt: endsAt.toISOString() };
}

function refuse(log: Logger, error: unknown): void {
  const reason = (error as Error).message;
  log.error({ event: 'smtp.tls-refused', reason }, 'the new certificate is not used, the previous one is');
}
