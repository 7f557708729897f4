/** What reports of some weeks say of a domain. */
export interface DmarcFacts {
  domain: string;
  /** the policy that receivers saw last; null: none, or none that can be read */
  policy: 'none' | 'quarantine' | 'reject' | null;
  reportCount: number;
  /** days that the reports span */
  days: number;
  messages: number;
  /** of these, those that passed DMARC */
  aligned: number;
  /** the source of most of those that did not; null when there is none */
  worst: { sourceIp: string; failed: number } | null;
}

/** Per cent of the mail that should pass before the next stricter policy: what is refused for good must be right more often. */
const ENOUGH_PERCENT = { quarantine: 98, reject: 99 };
/** Days; a week has every kind of day in it, and most of the mail that is sent regularly. */
const ENOUGH_DAYS = 7;

/** Per cent with one digit, never rounded up to 100; null without messages. */
export function alignedPercent({ messages, aligned }: Pick<DmarcFacts, 'messages' | 'aligned'>): number | null {
  return messages === 0 ? null : Math.floor((aligned / messages) * 1_000) / 10;
}

/** What to do next, in words: what is missing before `p=quarantine` or `p=reject`, or that it is safe. */
export function dmarcAdvice(facts: DmarcFacts): string {
  const { domain, policy, reportCount, days, messages, aligned, worst } = facts;
  const percent = alignedPercent(facts);
  if (reportCount === 0)
    return `No reports came. Ask for them with rua=mailto:dmarc@${domain} in the TXT record of _dmarc.${domain}; receivers send them once a day.`;
  if (percent === null) return 'The reports tell of no mail yet.';
  const next = policy === 'quarantine' || policy === 'reject' ? 'reject' : 'quarantine';
  const failed = messages - aligned;
  const passed = `${percent} % of ${countOf(messages, 'message')} passed`;
  const source = worst === null ? '' : `, ${worst.failed} of them from ${worst.sourceIp}`;
  const whose = `If it is yours, sign its mail with DKIM for ${domain} or add it to your SPF record`;
  if (policy === 'reject')
    return failed === 0
      ? `${passed}, under p=reject already: nothing is left to do.`
      : `${passed}, under p=reject already; ${countOf(failed, 'message')} failed${source}. ${whose}; if it is not, it is refused as it should be.`;
  if (percent < ENOUGH_PERCENT[next])
    return `${passed}; ${countOf(failed, 'message')} failed${source}. ${whose} before you publish p=${next}; if it is not, p=${next} will stop it.`;
  if (days < ENOUGH_DAYS)
    return `${passed} in ${countOf(days, 'day')}. Wait for a week of reports before you publish p=${next}.`;
  return `${passed} in ${countOf(days, 'day')}: p=${next} is safe.`;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
