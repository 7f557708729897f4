import { describe, expect, test } from 'vitest';
import { kindOfReport, readMailReport } from '../../../core/mime/parse-bounce.ts';
import { suppressedByReport } from '../../../core/mime/report-effects.ts';
import type { BounceCase } from './bounces/bounce-case.ts';
import { EXCHANGE } from './bounces/exchange.ts';
import { MAIL_SERVERS } from './bounces/mail-servers.ts';
import { PROVIDERS } from './bounces/providers.ts';
import { REFUSALS } from './bounces/refusals.ts';

const groups: [string, readonly BounceCase[]][] = [
  ['Exchange', EXCHANGE],
  ['mail servers', MAIL_SERVERS],
  ['providers and filters', PROVIDERS],
  ['refusals and broken reports', REFUSALS],
];

describe.each(groups)('The reports of %s', (_, cases) => {
  test.each(cases.map(({ system, outcome, mail }, at) => [at + 1, system, outcome, mail] as const))(
    '%i, %s: %s',
    async (_at, _system, outcome, mail) => {
      expect(await outcomeOf(mail)).toBe(outcome);
    },
  );
});

async function outcomeOf(mail: string): Promise<string> {
  const report = await readMailReport(Buffer.from(mail), { isAtReturnAddress: true });
  const kind = kindOfReport(report);
  if (kind !== 'bounce' || report?.kind !== 'delivery-status') return kind;
  const [first] = report.recipients;
  if (first === undefined || (first.bounce === 'hard') !== suppressedByReport(first)) return 'inconsistent';
  return first.bounce ?? 'none';
}
