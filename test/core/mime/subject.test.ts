import { describe, expect, test } from 'vitest';
import { baseSubject, isForwardSubject, isReplySubject } from '../../../core/mime/subject.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

const NEITHER = 'neither';

describe('the base subject and the marker of', () => {
  test.each([
    ['Invoice 7', 'Invoice 7', NEITHER],
    ['Re: Invoice 7', 'Invoice 7', 'reply'],
    ['RE:re :  Re: Invoice 7', 'Invoice 7', 'reply'],
    ['Re[2]: Invoice', 'Invoice', 'reply'],
    ['Re [2] : Invoice', 'Invoice', 'reply'],
    ['Re(3): Invoice', 'Invoice', 'reply'],
    ['Re^2: Invoice', 'Invoice', 'reply'],
    ['[list] Re: [list] Invoice', 'Invoice', 'reply'],
    ['[a] [b] Re: Invoice', 'Invoice', 'reply'],
    ['[PATCH 2/3] fix it', 'fix it', NEITHER],
    ['[only a tag]', '[only a tag]', NEITHER],
    ['[a] [b]', '[b]', NEITHER],
    ['Re: [tag]', '[tag]', 'reply'],
    ['Fwd: Invoice', 'Invoice', 'forward'],
    ['FW: Re: Invoice', 'Invoice', 'forward'],
    ['Re: Fwd: Invoice', 'Invoice', 'reply'],
    ['[Fwd: Invoice]', 'Invoice', 'forward'],
    ['[Fwd: Re: [Fwd: Invoice (fwd)]] (fwd)', 'Invoice', 'forward'],
    ['Re: [Fwd: Invoice]', 'Invoice', 'reply'],
    ['[list] [Fwd: Invoice]', 'Invoice', 'forward'],
    ['[fwd: Invoice', '[fwd: Invoice', NEITHER],
    ['Invoice (fwd) (FWD) ', 'Invoice', 'forward'],
    ['\tInvoice \r\n  of   May ', 'Invoice of May', NEITHER],
    ['Re:', '', 'reply'],
    ['', '', NEITHER],
    ['Re', 'Re', NEITHER],
    ['Reality: check', 'Reality: check', NEITHER],
    ['RE2: released', 'RE2: released', NEITHER],
    ['AW: WG: Rechnung', 'Rechnung', 'reply'],
    ['WG: Rechnung', 'Rechnung', 'forward'],
    ['SV: Faktura', 'Faktura', 'reply'],
    ['VS: Faktura', 'Faktura', 'forward'],
    ['Antw.: x', 'Antw.: x', NEITHER],
    ['Antw: Factuur', 'Factuur', 'reply'],
    ['RV: Factura', 'Factura', 'forward'],
    ['TR : Facture', 'Facture', 'forward'],
    ['RÉ : Facture', 'Facture', 'reply'],
    ['R: Fattura', 'Fattura', 'reply'],
    ['I: R: Fattura', 'Fattura', 'forward'],
    ['Odp: Faktura', 'Faktura', 'reply'],
    ['ΑΠ: Τιμολόγιο', 'Τιμολόγιο', 'reply'],
    ['回复：发票', '发票', 'reply'],
    ['转发: 发票', '发票', 'forward'],
    ['إعادة توجيه: فاتورة', 'فاتورة', 'forward'],
    ['constructor: x', 'constructor: x', NEITHER],
    ['__proto__: x', '__proto__: x', NEITHER],
  ])('%j are %j and %s', (subject, base, marker) => {
    const isReply = isReplySubject(subject);
    expect([baseSubject(subject), isReply ? 'reply' : isForwardSubject(subject) ? 'forward' : NEITHER]).toEqual([
      base,
      marker,
    ]);
    expect(baseSubject(base)).toBe(base);
  });
});

test.each(['a', ' ', '[', '[]', ']', '[Fwd: ', 're: ', 're [', '[x] ', '(fwd)', '(', 'a\u00a0', '\u0301', '：'])(
  'a subject of up to 50,000 bytes of %j is read in linear time',
  (unit) => {
    const forms = [
      (subject: string) => subject,
      (subject: string) => `${subject}]`,
      (subject: string) => `[Fwd: ${subject}${']'.repeat(subject.length / 2)}`,
    ];
    for (const readForm of forms)
      expectLinearGrowth(
        (length) => {
          const subject = readForm(unit.repeat(length / unit.length));
          baseSubject(subject);
          isReplySubject(subject);
          isForwardSubject(subject);
        },
        50_000,
        readForm('…'),
      );
  },
);
