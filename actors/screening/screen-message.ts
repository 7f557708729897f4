import type { WhenAway } from '../../core/screening/scanner-options.ts';
import type { Screening, SpamCheck } from '../../core/screening/spam-check.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import { screeningMetrics } from '../../schema/metrics.ts';
import { ScannerAway } from './circuit.ts';
import type { Scanners } from './scanners.ts';

type AcceptRequest = Request<'receiving.message.accept'>;
type Refusal = Extract<Reply<'receiving.message.accept'>, { verdict: 'refused' }>;

/** What the scanners say about a message, for each of its recipients in their order. */
export interface Screened {
  screenings: (Screening | null)[];
  /** whether a scanner was away, so that the message is checked later, and whether it is kept until then */
  later: 'no' | 'check' | 'hold';
}

/** The verdict on a message: refused, or accepted with what was found. */
export type MessageScreening = { refusal: Refusal } | { refusal: null; screened: Screened };

/** A scanner is away, and mail is deferred until it is back. */
const DEFERRED: Refusal = {
  verdict: 'refused',
  code: 451,
  enhancedCode: '4.7.1',
  text: 'The message cannot be checked now, please try again later',
};

/**
 * Asks the scanners about a message before its 250, all at the same time. Each workspace among its recipients has a classifier of its own.
 * Never throws.
 */
export async function screenMessage(
  { spam, virus }: Pick<Scanners, 'spam' | 'virus'>,
  request: AcceptRequest,
  bytes: Uint8Array,
): Promise<MessageScreening> {
  const [spams, found] = await Promise.all([
    spam === null ? null : askOrAway(() => checkSpam(spam, request, bytes)),
    virus === null ? null : askOrAway(() => virus.scan(bytes)),
  ]);
  if (virus !== null && found !== null && found !== 'away' && found.verdict === 'found') {
    screeningMetrics.verdicts.inc({ verdict: 'virus' });
    if (virus.action === 'refuse') return { refusal: refuse(`The message has a virus: ${found.name}`) };
    const screening = { spam: null, virus: found.name };
    return { refusal: null, screened: { screenings: request.recipients.map(() => screening), later: 'no' } };
  }
  const away: WhenAway[] = [];
  if (spam !== null && spams === 'away') away.push(spam.whenAway);
  if (virus !== null && found === 'away') away.push(virus.whenAway);
  if (away.includes('defer')) return { refusal: DEFERRED };
  const checks = spams === 'away' ? null : spams;
  if (spam !== null && checks !== null && isRefused(spam.rejectScore, checks)) {
    screeningMetrics.verdicts.inc({ verdict: 'refused' });
    return { refusal: refuse('The message was rejected as spam') };
  }
  const screenings = request.recipients.map(({ workspaceId }): Screening | null => {
    const check = checks?.get(workspaceId) ?? null;
    if (checks !== null) screeningMetrics.verdicts.inc({ verdict: check?.verdict ?? 'not_checked' });
    return check === null ? null : { spam: check, virus: null };
  });
  return {
    refusal: null,
    screened: { screenings, later: away.includes('hold') ? 'hold' : away.includes('accept') ? 'check' : 'no' },
  };
}

/** Returns the verdicts by workspace. */
async function checkSpam(
  spam: NonNullable<Scanners['spam']>,
  { recipients, reversePath, remoteAddress, helo }: AcceptRequest,
  bytes: Uint8Array,
): Promise<Map<string, SpamCheck | null>> {
  const byWorkspace = Map.groupBy(recipients, ({ workspaceId }) => workspaceId);
  const checks = await Promise.all(
    [...byWorkspace].map(async ([workspaceId, own]): Promise<[string, SpamCheck | null]> => {
      const envelope = { reversePath, remoteAddress, helo, recipients: own.map(({ recipient }) => recipient) };
      return [workspaceId, await spam.check(workspaceId, envelope, bytes)];
    }),
  );
  return new Map(checks);
}

/** SMTP has one reply for all recipients: the message is refused if it is refused for each. */
function isRefused(rejectScore: number | null, checks: ReadonlyMap<string, SpamCheck | null>): boolean {
  if (rejectScore === null || checks.size === 0) return false;
  return [...checks.values()].every((check) => check?.score != null && check.score >= rejectScore);
}

async function askOrAway<T>(ask: () => Promise<T>): Promise<T | 'away'> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ScannerAway) return 'away';
    throw error;
  }
}

function refuse(text: string): Refusal {
  return { verdict: 'refused', code: 550, enhancedCode: '5.7.1', text };
}
