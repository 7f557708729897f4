import { describe, expect, test } from 'vitest';
import { kindOfReport, readMailReport } from '../../../core/mime/parse-bounce.ts';
import { suppressedByReport } from '../../../core/mime/report-effects.ts';
import type { BounceCase } from './bounces/bounce-case.ts';
import { ENCODED_REPORTS } from './bounces/encoded-reports.ts';
import { EXCHANGE } from './bounces/exchange.ts';
import { EXCHANGE_LANGUAGES, MICROSOFT_365 } from './bounces/exchange-languages.ts';
import { FRESH_REPORTS } from './bounces/fresh-reports.ts';
import { GROUPWARE_SERVERS } from './bounces/groupware-servers.ts';
import { HARMLESS_MAILS } from './bounces/harmless-mail.ts';
import { MAIL_SERVERS } from './bounces/mail-servers.ts';
import { ODD_WORDINGS } from './bounces/odd-wordings.ts';
import { PLAIN_WORDS } from './bounces/plain-words.ts';
import { GMAIL_LANGUAGES, GMAIL_REPORTS, NO_REPORTS, PROVIDER_REFUSALS } from './bounces/provider-refusals.ts';
import { PROVIDERS } from './bounces/providers.ts';
import { PUBLISHED_REPORTS } from './bounces/published-reports.ts';
import { REFUSALS } from './bounces/refusals.ts';
import { REPORT_STRUCTURES } from './bounces/report-structures.ts';
import { SERVER_REPLIES } from './bounces/server-replies.ts';
import { SINGLE_LINES } from './bounces/single-lines.ts';
import { TEMPLATE_REPORTS } from './bounces/template-reports.ts';
import { UNIX_SERVERS } from './bounces/unix-servers.ts';
import { WORLD_REPORTS } from './bounces/world-reports.ts';
import { WORLD_WORDINGS } from './bounces/world-wordings.ts';

const groups: [string, readonly BounceCase[]][] = [
  ['Exchange', EXCHANGE],
  ['mail servers', MAIL_SERVERS],
  ['providers and filters', PROVIDERS],
  ['refusals and broken reports', REFUSALS],
  ['Exchange in further languages', EXCHANGE_LANGUAGES],
  ['Microsoft 365', MICROSOFT_365],
  ['further servers of Unix', UNIX_SERVERS],
  ['groupware and servers of Windows', GROUPWARE_SERVERS],
  ['large providers', PROVIDER_REFUSALS],
  ['Gmail in further languages', GMAIL_LANGUAGES],
  ['Gmail', GMAIL_REPORTS],
  ['persons and their programs', NO_REPORTS],
  ['servers that reply in public', SERVER_REPLIES],
  ['systems as their sources give them', PUBLISHED_REPORTS],
  ['companies in a sentence or two', PLAIN_WORDS],
  ['servers in odd structures', REPORT_STRUCTURES],
  ['further systems', FRESH_REPORTS],
  ['companies with wordings of their own', ODD_WORDINGS],
  ['servers that write one line', SINGLE_LINES],
  ['providers of the world and rare systems', WORLD_REPORTS],
  ['servers in HTML, parts and odd encodings', ENCODED_REPORTS],
  ['servers in 40 languages', WORLD_WORDINGS],
  ['servers and providers after their templates', TEMPLATE_REPORTS],
  ['people and programs that suppress nobody', HARMLESS_MAILS],
];

describe.each(groups)('The reports of %s', (_, cases) => {
  test.each(cases.map(({ system, outcome, mail }, at) => [at + 1, system, outcome, mail] as const))(
    'case %i from %s is read: %s',
    async (_at, _system, outcome, mail) => {
      expect(await readOutcome(mail)).toBe(outcome);
    },
  );
});

async function readOutcome(mail: string): Promise<string> {
  const report = await readMailReport(Buffer.from(mail), { isAtReturnAddress: true });
  const kind = kindOfReport(report);
  if (kind !== 'bounce' || report?.kind !== 'delivery-status') return kind;
  const [first] = report.recipients;
  if (first === undefined || (first.bounce === 'hard') !== suppressedByReport(first)) return 'inconsistent';
  return first.bounce ?? 'none';
}
