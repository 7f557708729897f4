import { describe, expect, test } from 'vitest';
import { kindOfReport, readMailReport } from '../../../core/mime/parse-bounce.ts';
import { complainingRecipients, reportedRecipients, suppressedByReport } from '../../../core/mime/report-effects.ts';
import { type FrozenMessage, readFrozenMessages } from './frozen/frozen-mail.ts';

const FILES = ['unix', 'windows', 'providers', 'languages', 'odd'] as const;
const sets = {
  tenth: FILES.flatMap((file) => readFrozenMessages('tenth', file)),
  december: readFrozenMessages('december', 'bounces'),
  'december-later': readFrozenMessages('december-later', 'bounces'),
};

/** Returns the kind of a report and whom it suppresses; the return address was made for the first recipient. */
async function readEffects({ raw, expected, recipients }: FrozenMessage): Promise<string> {
  const report = await readMailReport(raw, { isAtReturnAddress: true });
  const kind = kindOfReport(report);
  const ours = recipients.map((address) => ({ id: address, address, isReportable: true }));
  const suppressed = new Set<string>();
  if (report?.kind === 'delivery-status') {
    const reported = reportedRecipients(report.recipients, ours, recipients[0] ?? '');
    for (const [at, one] of report.recipients.entries())
      if (suppressedByReport(one)) suppressed.add(reported[at]?.address ?? 'none');
  }
  if (report?.kind === 'feedback' && report.isComplaint)
    for (const { address } of complainingRecipients(report, ours, recipients[0] ?? '')) suppressed.add(address);
  suppressed.delete('none');
  const whom = suppressed.size === 0 ? 'none' : [...suppressed].sort().join(' ');
  const [kinds = ''] = expected.split(' ');
  return `${kinds.split('/').includes(kind) ? kinds : kind} ${whom}`;
}

// 224 whole mails after the wordings of mail systems and providers, written and committed before anyone looked at what the product made of
// them. A third, by a hash of its title, was kept aside. At first, 78 of 81 and 47 of 49 that must suppress were read so, and 62 of 64 and 29
// of 30 that must not. Of 70 in december, by an author who had not seen the code, 29 of 30 and 13 of 13, and 18 of 18 and 8 of 9. Of 7
// near to these, all.
describe.each([
  ['tenth', 'must suppress', true, false, 81],
  ['tenth', 'must suppress', true, true, 47],
  ['tenth', 'must not suppress', false, false, 63],
  ['tenth', 'must not suppress', false, true, 29],
  ['december', 'must suppress', true, false, 30],
  ['december', 'must suppress', true, true, 13],
  ['december', 'must not suppress', false, false, 18],
  ['december', 'must not suppress', false, true, 8],
  ['december-later', 'must suppress', true, false, 4],
  ['december-later', 'must not suppress', false, false, 1],
  ['december-later', 'must not suppress', false, true, 2],
] as const)('mails of the %s set that %s', (set, _, must, isHeld, least) => {
  test(`kept aside: ${isHeld}: at least ${least} are read as they are meant`, async () => {
    const all = sets[set].filter((mail) => mail.isHeld === isHeld && !mail.expected.endsWith(' none') === must);
    const wrong: string[] = [];
    for (const mail of all) {
      const read = await readEffects(mail);
      if (read !== mail.expected) wrong.push(isHeld ? 'kept aside' : `${mail.name}: ${read}`);
    }
    expect(all.length - wrong.length, wrong.join('\n')).toBeGreaterThanOrEqual(least);
  });
});
