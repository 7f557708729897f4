/** Summary of a domain's DMARC reports over some weeks. */
export interface DmarcFacts {
  domain: string;
  /** the policy in the latest report; null: none, or unreadable */
  policy: 'none' | 'quarantine' | 'reject' | null;
  reportCount: number;
  /** days covered by the reports */
  days: number;
  messages: number;
  /** messages that passed DMARC */
  aligned: number;
  /** the source with the most failures; null when there are none */
  worst: { sourceIp: string; failed: number } | null;
}

/** Percentage of messages that must pass before the next stricter policy; rejecting needs more certainty. */
const ENOUGH_PERCENT = { quarantine: 98, reject: 99 };
/** Days; a week covers every weekday and most regular mail. */
const ENOUGH_DAYS = 7;

/** Returns a percentage with one decimal, never rounded up to 100; null without messages. */
export function alignedPercent({ messages, aligned }: Pick<DmarcFacts, 'messages' | 'aligned'>): number | null {
  return messages === 0 ? null : Math.floor((aligned / messages) * 1_000) / 10;
}

/** Returns the next step for the user: what is missing before `p=quarantine` or `p=reject`, or that it is safe. */
export function dmarcAdvice(facts: DmarcFacts): string {
  const { domain, policy, reportCount, days, messages, aligned, worst } = facts;
  const percent = alignedPercent(facts);
  if (reportCount === 0)
    return `No reports received. Request them with rua=mailto:dmarc@${domain} in the TXT record of _dmarc.${domain}; receivers send them once a day.`;
  if (percent === null) return 'The reports contain no mail yet.';
  const next = policy === 'quarantine' || policy === 'reject' ? 'reject' : 'quarantine';
  const failed = messages - aligned;
  const passed = `${percent} % of ${writeCount(messages, 'message')} passed`;
  const source = worst === null ? '' : `, ${worst.failed} of them from ${worst.sourceIp}`;
  const whose = `If it is yours, sign its mail with DKIM for ${domain} or add it to your SPF record`;
  if (policy === 'reject')
    return failed === 0
      ? `${passed}, and your policy is already p=reject: nothing left to do.`
      : `${passed}, and your policy is already p=reject; ${writeCount(failed, 'message')} failed${source}. ${whose}; if it is not, receivers reject it as they should.`;
  if (percent < ENOUGH_PERCENT[next])
    return `${passed}; ${writeCount(failed, 'message')} failed${source}. ${whose} before you publish p=${next}; if it is not, p=${next} stops it.`;
  if (days < ENOUGH_DAYS)
    return `${passed} in ${writeCount(days, 'day')}. Wait for a week of reports before you publish p=${next}.`;
  return `${passed} in ${writeCount(days, 'day')}: p=${next} is safe.`;
}

function writeCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
