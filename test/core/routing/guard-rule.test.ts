import { describe, expect, test } from 'vitest';
import type { Authentication, AuthenticationResult } from '../../../core/mime/authentication.ts';
import { checkGuardConfig, MAX_GUARD_VALUE_LENGTH, MAX_GUARD_VALUES } from '../../../core/routing/guard-config.ts';
import { toGuardFacts } from '../../../core/routing/guard-facts.ts';
import {
  evaluateRules,
  findPrompt,
  type GuardFacts,
  type GuardMatch,
  type GuardRule,
  type ModelVerdict,
  readsText,
  sortRules,
} from '../../../core/routing/guard-rule.ts';

/** The verdicts on mail of shop.test; DMARC passes unless told. */
function verdicts(
  changes: {
    spf?: AuthenticationResult;
    dkim?: AuthenticationResult[];
    dmarc?: AuthenticationResult;
    dmarcDomain?: string;
    hasSeveralFromFields?: boolean;
  } = {},
): Authentication {
  const {
    spf = 'pass',
    dkim = ['pass'],
    dmarc = 'pass',
    dmarcDomain = 'shop.test',
    hasSeveralFromFields = false,
  } = changes;
  return {
    spf: { result: spf, domain: 'shop.test' },
    dkim: dkim.map((result) => ({ result, domain: 'shop.test', selector: 's' })),
    dmarc: { result: dmarc, policy: 'none', domain: dmarcDomain },
    arc: { result: 'none' },
    hasSeveralFromFields,
  };
}

const mail: GuardFacts = {
  subject: 'Your Invoice №5 – 💶 Straße',
  from: [{ name: 'Ada', address: 'Ada@Shop.test' }],
  to: ['hello+tag@inbox.test', 'hello@inbox.test', 'cc@elsewhere.test'],
  text: 'Your Invoice\nPlease pay 100 € to the   casino\nΣΊΣΥΦΟΣ',
  attachments: [
    { filename: 'Invoice-2026.PDF', contentType: 'application/pdf' },
    { filename: 'photo.jpeg', contentType: 'image/jpeg' },
  ],
  authentication: verdicts(),
  injection: 'review',
  spam: { verdict: 'not_checked' as const, score: null },
};

let made = 0;
/** An active rule with the config, as a user would give it. */
function makeRule(
  config: unknown,
  changes: Partial<Pick<GuardRule, 'id' | 'action' | 'priority' | 'createdAt'>> = {},
): GuardRule {
  const checked = checkGuardConfig('explicit', config);
  if (checked.config === undefined) throw new Error(checked.error);
  return { ...makeBase(changes), ...checked.config };
}

function promptRule(prompt: string, changes: Partial<Pick<GuardRule, 'id' | 'priority'>> = {}): GuardRule {
  return { ...makeBase(changes), type: 'ai_prompt', config: { prompt } };
}

function makeBase(changes: object) {
  const id = `grd_${made++}`;
  const createdAt = new Date('2026-11-01T00:00:00Z');
  return { id, name: id, action: 'block' as const, endpointId: null, priority: 0, createdAt, ...changes };
}

const NONE = new Map<string, ModelVerdict>();

function readMatches(config: unknown, facts: GuardFacts = mail): GuardMatch[] | null {
  const verdict = evaluateRules([makeRule(config)], facts, NONE);
  return verdict.kind === 'matched' ? verdict.matches : null;
}

describe('a criterion matches', () => {
  const matchAny = (...values: string[]) => ({ operator: 'OR', values });
  const matchAll = (...values: string[]) => ({ operator: 'AND', values });
  test.each<[string, unknown, [string, string][]]>([
    ['by a part of the subject in any case', { subject: matchAny('INVOICE') }, [['subject', 'INVOICE']]],
    ['by an emoji', { subject: matchAny('💶') }, [['subject', '💶']]],
    ['by ss for ß', { subject: matchAny('STRASSE') }, [['subject', 'STRASSE']]],
    ['by compatibility characters', { subject: matchAny('𝐈𝐧𝐯𝐨𝐢𝐜𝐞 no5') }, [['subject', '𝐈𝐧𝐯𝐨𝐢𝐜𝐞 no5']]],
    ['by the other small sigma', { hasWords: matchAny('σίσυφος') }, [['hasWords', 'σίσυφος']]],
    ['by words across a line break', { hasWords: matchAny('invoice please') }, [['hasWords', 'invoice please']]],
    ['by words of two letters', { hasWords: matchAny('€') }, [['hasWords', '€']]],
    [
      'by the first of several words that is there',
      { hasWords: matchAny('lottery', 'casino', 'pay') },
      [['hasWords', 'casino']],
    ],
    [
      'by all words',
      { hasWords: matchAll('pay', 'the casino') },
      [
        ['hasWords', 'pay'],
        ['hasWords', 'the casino'],
      ],
    ],
    ['by the address of From in any case', { from: matchAny('ada@SHOP.test') }, [['from', 'ada@SHOP.test']]],
    ['by the domain of From', { from: matchAny('x@y.test', '*@shop.test') }, [['from', '*@shop.test']]],
    ['by the domain of From without an asterisk', { from: '@shop.test' }, [['from', '@shop.test']]],
    ['by an addressee in copy', { to: matchAny('cc@elsewhere.test') }, [['to', 'cc@elsewhere.test']]],
    ['by the address behind a plus-tag', { to: matchAny('hello@inbox.test') }, [['to', 'hello@inbox.test']]],
    [
      'by all addressees',
      { to: matchAll('*@inbox.test', '*@elsewhere.test') },
      [
        ['to', '*@inbox.test'],
        ['to', '*@elsewhere.test'],
      ],
    ],
    ['by having attachments', { hasAttachment: true }, [['hasAttachment', 'true']]],
    ['by text aimed at agents', { injection: 'review' }, [['injection', 'review']]],
    ['by the end of a file name', { attachments: matchAny('.exe', '.pdf') }, [['attachments', '.pdf']]],
    ['by a pattern of a file name', { attachments: matchAny('inv*-*.pdf') }, [['attachments', 'inv*-*.pdf']]],
    ['by a part of a file name', { attachments: matchAny('photo') }, [['attachments', 'photo']]],
    ['by a content type', { attachments: matchAny('application/PDF') }, [['attachments', 'application/PDF']]],
    [
      'by a family of content types',
      { attachments: matchAll('image/*', '.pdf') },
      [
        ['attachments', 'image/*'],
        ['attachments', '.pdf'],
      ],
    ],
    ['by one of several results', { spf: ['fail', 'pass'] }, [['spf', 'pass']]],
    [
      'by one result',
      { dkim: 'pass', dmarc: 'pass' },
      [
        ['dkim', 'pass'],
        ['dmarc', 'pass'],
      ],
    ],
    [
      'by all criteria together',
      { subject: 'invoice', from: '*@shop.test', mode: 'simple' },
      [
        ['from', '*@shop.test'],
        ['subject', 'invoice'],
      ],
    ],
  ])('%s', (_, config, matches) => {
    expect(readMatches(config)).toEqual(matches.map(([criteria, value]) => ({ criteria, value })));
  });

  test.each([
    ['review', [{ criteria: 'injection', value: 'review' }]],
    ['clear', null],
  ])('treats mail without a verdict on its text as review when a rule asks for %s', (injection, matches) => {
    const verdict = evaluateRules([makeRule({ injection })], { ...mail, injection: null }, new Map());
    expect(verdict.kind === 'matched' ? verdict.matches : null).toEqual(matches);
  });

  test.each<[string, unknown]>([
    ['a word that is not there', { hasWords: matchAny('lottery') }],
    ['one word of two that is not there', { hasWords: matchAll('casino', 'lottery') }],
    ['the parts of a word apart', { hasWords: matchAny('cas ino') }],
    ['a part of an address', { from: matchAny('da@shop.test') }],
    ['a domain above', { from: matchAny('*@test.test') }],
    ['a domain below', { from: matchAny('*@mail.shop.test') }],
    ['an addressee as sender', { from: matchAny('hello@inbox.test') }],
    ['having no attachment', { hasAttachment: false }],
    ['having no text aimed at agents', { injection: 'clear' }],
    ['a start for the end of a file name', { attachments: matchAny('.invoice') }],
    ['a pattern whose pieces overlap', { attachments: matchAny('invoice-2026*2026.pdf') }],
    ['a pattern whose inner piece reaches into the last', { attachments: matchAny('in*2026*26.pdf') }],
    ['another family of content types', { attachments: matchAny('video/*') }],
    ['another result', { dmarc: ['fail', 'none'] }],
    ['one criterion of two that is not met', { subject: 'invoice', from: '*@other.test' }],
  ])('does not match by %s', (_, config) => {
    expect(readMatches(config)).toBeNull();
  });

  test.each([
    ['an internationalised domain in either form', 'ada@münchen.test', '*@xn--mnchen-3ya.test'],
    ['an internationalised domain in the other form', 'ada@xn--mnchen-3ya.test', '*@MÜNCHEN.test'],
  ])('matches by %s', (_, address, value) => {
    expect(readMatches({ from: value }, { ...mail, from: [{ name: null, address }] })).not.toBeNull();
  });

  test('words with zero-width characters inserted', () => {
    expect(readMatches({ hasWords: 'casino' }, { ...mail, text: 'the c\u200ba\u00ads\u2060ino' })).not.toBeNull();
  });

  test('a file name whose ending Windows would drop', () => {
    const attachments = [{ filename: 'run.exe. ', contentType: 'application/octet-stream' }];
    expect(readMatches({ attachments: '.exe' }, { ...mail, attachments })).not.toBeNull();
  });

  test('does not match look-alike letters of other scripts', () => {
    expect(readMatches({ hasWords: 'casino' }, { ...mail, text: 'the сasino' })).toBeNull();
  });

  test('authentication criteria do not match without results', () => {
    for (const config of [
      { spf: 'none' },
      { dkim: 'none' },
      { dmarc: 'none' },
      { from: { values: ['*@shop.test'], aligned: true } },
    ])
      expect(readMatches(config, { ...mail, authentication: null })).toBeNull();
  });

  test.each<[AuthenticationResult[], AuthenticationResult, boolean]>([
    [['fail', 'pass'], 'pass', true],
    [['fail', 'pass'], 'fail', false],
    [['fail', 'permerror'], 'permerror', true],
    [[], 'none', true],
    [[], 'fail', false],
  ])('with signatures %j DKIM is %s: %s', (dkim, wanted, isMet) => {
    expect(readMatches({ dkim: wanted }, { ...mail, authentication: verdicts({ dkim }) }) !== null).toBe(isMet);
  });
});

describe('an aligned From', () => {
  const aligned = { from: { values: ['ada@shop.test', '*@bank.test'], aligned: true } };
  const of = (address: string, changes: Parameters<typeof verdicts>[0] = {}) =>
    readMatches(aligned, { ...mail, from: [{ name: null, address }], authentication: verdicts(changes) });

  test('matches if DMARC passed for its domain', () => {
    expect(of('ada@shop.test')).toEqual([{ criteria: 'from', value: 'ada@shop.test' }]);
    expect(of('bob@bank.test', { dmarcDomain: 'BANK.test' })).toEqual([{ criteria: 'from', value: '*@bank.test' }]);
  });

  test.each<[string, Parameters<typeof verdicts>[0]]>([
    ['DMARC failed', { dmarc: 'fail' }],
    ['the domain publishes no DMARC', { dmarc: 'none', spf: 'pass', dkim: ['pass'] }],
    ['DNS did not respond', { dmarc: 'temperror' }],
    ['DMARC passed for another domain', { dmarcDomain: 'evil.test' }],
    ['there are two From fields', { hasSeveralFromFields: true }],
  ])('does not match if %s', (_, changes) => {
    expect(of('ada@shop.test', changes)).toBeNull();
  });

  test('a From criterion without alignment also matches a forger', () => {
    expect(
      readMatches({ from: 'ada@shop.test' }, { ...mail, authentication: verdicts({ dmarc: 'fail' }) }),
    ).not.toBeNull();
  });
});

describe('among several rules', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 1, 0, 0, second));

  test('the highest priority decides, then the newest, then the greatest id', () => {
    const rules = [
      makeRule({ subject: 'invoice' }, { id: 'a', priority: 0, createdAt: at(9) }),
      makeRule({ subject: 'invoice' }, { id: 'b', priority: 5, createdAt: at(1) }),
      makeRule({ subject: 'invoice' }, { id: 'c', priority: 5, createdAt: at(2) }),
      makeRule({ subject: 'invoice' }, { id: 'd', priority: 5, createdAt: at(2) }),
      makeRule({ subject: 'lottery' }, { id: 'e', priority: 9 }),
      makeRule({ subject: 'invoice' }, { id: 'f', priority: -3, createdAt: at(9) }),
    ];
    expect(sortRules(rules).map(({ id }) => id)).toEqual(['e', 'd', 'c', 'b', 'a', 'f']);
    expect(evaluateRules(rules, mail, NONE)).toMatchObject({ kind: 'matched', rule: { id: 'd' }, reason: null });
  });

  test('an allow rule before a block rule lets the message pass', () => {
    const rules = [
      makeRule({ from: '*@shop.test' }, { action: 'block' }),
      makeRule({ from: 'ada@shop.test' }, { action: 'allow', priority: 1 }),
    ];
    expect(evaluateRules(rules, mail, NONE)).toMatchObject({ kind: 'matched', rule: { action: 'allow' } });
  });

  test('none matches', () => {
    expect(evaluateRules([makeRule({ subject: 'lottery' })], mail, NONE)).toEqual({ kind: 'none' });
    expect(evaluateRules([], mail, NONE)).toEqual({ kind: 'none' });
  });
});

describe('a rule with a model', () => {
  const prompt = promptRule('Is it advertising?', { id: 'prompt', priority: 5 });
  const above = makeRule({ subject: 'invoice' }, { id: 'above', priority: 9 });
  const below = makeRule({ subject: 'invoice' }, { id: 'below', priority: 1 });
  const responded = (response: ModelVerdict) => new Map([['prompt', response]]);

  test('is asked only if no earlier rule matches', () => {
    expect(evaluateRules([prompt, below], mail, NONE)).toMatchObject({ kind: 'ask', rule: { id: 'prompt' } });
    expect(evaluateRules([prompt, above], mail, NONE)).toMatchObject({ kind: 'matched', rule: { id: 'above' } });
    expect(findPrompt(prompt)).toBe('Is it advertising?');
    expect(findPrompt(above)).toBeNull();
  });

  test('matches by the reply of the model', () => {
    const responses = responded({ kind: 'answered', isMatch: true, reason: 'It sells.' });
    expect(evaluateRules([prompt, below], mail, responses)).toEqual({
      kind: 'matched',
      rule: prompt,
      matches: [{ criteria: 'prompt', value: 'Is it advertising?' }],
      reason: 'It sells.',
    });
  });

  test('leaves the message to the later rules when it does not match', () => {
    const responses = responded({ kind: 'answered', isMatch: false, reason: 'A bill.' });
    expect(evaluateRules([prompt, below], mail, responses)).toMatchObject({ kind: 'matched', rule: { id: 'below' } });
    expect(evaluateRules([prompt], mail, responses)).toEqual({ kind: 'none' });
  });

  test('neither blocks nor passes when the model failed', () => {
    const responses = responded({ kind: 'failed', reason: 'HTTP 500' });
    expect(evaluateRules([prompt, below], mail, responses)).toEqual({
      kind: 'review',
      rule: prompt,
      reason: 'HTTP 500',
    });
  });
});

describe('a rule config', () => {
  test('is accepted as an object, as JSON, and in its short forms', () => {
    const full = { type: 'explicit', config: { subject: { operator: 'OR', values: ['a', 'b'] }, spf: ['fail'] } };
    for (const given of [
      { subject: { operator: 'OR', values: ['a', ' b '] }, spf: ['fail', 'fail'] },
      { subject: ['a', 'b'], spf: 'fail', from: null, to: { operator: 'AND', values: [] }, unknown: 1 },
      JSON.stringify({ subject: { operator: 'or', values: ['a', 'b'] }, spf: 'fail' }),
    ])
      expect(checkGuardConfig('explicit', given)).toEqual({ config: full });
    // What is stored is read by the same check.
    expect(checkGuardConfig('explicit', full.config)).toEqual({ config: full });
  });

  test.each<[unknown, string]>([
    [null, 'config: must be an object'],
    ['{', 'config: must be an object'],
    [[], 'config: must be an object'],
    [{}, 'config: must have at least one of subject, from, to, hasWords'],
    [{ mode: 'simple' }, 'config: must have at least one of'],
    [{ subject: { values: [' '] } }, 'config.subject.values.0: must not be empty'],
    [{ hasWords: { values: ['\u200b'] } }, 'config.hasWords.values.0: must not be empty'],
    [{ hasWords: { values: ['a\0'] } }, 'config.hasWords.values.0: must not contain NUL'],
    [{ hasWords: { operator: 'XOR', values: ['a'] } }, 'config.hasWords.operator: must be OR or AND'],
    [{ from: 'ada' }, 'config.from.values.0: must be an address or *@domain'],
    [{ from: { values: ['a@b.test', '*@*.test'] } }, 'config.from.values.1: must be an address or *@domain'],
    [{ to: 'Ada <ada@b.test>' }, 'config.to.values.0: must be an address or *@domain'],
    [{ spf: 'passed' }, 'config.spf.0: must be pass, fail'],
    [{ dmarc: [] }, 'config.dmarc: must have at least one value'],
    [{ attachments: 'a*b*c*d*e' }, 'config.attachments.values.0: must not have more than 3 asterisks'],
    [{ hasAttachment: 'yes' }, 'config.hasAttachment: '],
    [{ injection: 'suspected' }, 'config.injection: must be clear or review'],
    [{ from: { values: ['a@b.test'], aligned: 'yes' } }, 'config.from.aligned: '],
    [{ subject: 'a', mode: 'expert' }, 'config.mode: must be simple or advanced'],
    [
      { subject: { values: Array.from({ length: MAX_GUARD_VALUES + 1 }, () => 'a') } },
      'config.subject.values: must not have more than 100 values',
    ],
    [
      { subject: 'a'.repeat(MAX_GUARD_VALUE_LENGTH + 1) },
      'config.subject.values.0: must not be longer than 500 characters',
    ],
  ])('%j is rejected: %s', (given, error) => {
    expect(checkGuardConfig('explicit', given).error).toContain(error);
  });

  test.each<[unknown, string | undefined]>([
    [{ prompt: ' Is it spam? ' }, undefined],
    [{}, 'config.prompt: must be a text'],
    [{ prompt: ' ' }, 'config.prompt: must not be empty'],
    [{ prompt: 'x'.repeat(4_001) }, 'config.prompt: must not be longer than 4000 characters'],
  ])('rejects a prompt: %j', (given, error) => {
    expect(checkGuardConfig('ai_prompt', given).error).toBe(error);
  });

  test('reports whether it looks at bodies', () => {
    expect(readsText([makeRule({ subject: 'a' }), promptRule('p')])).toBe(false);
    expect(readsText([makeRule({ subject: 'a' }), makeRule({ hasWords: 'a' })])).toBe(true);
  });
});

describe('facts', () => {
  const list = (...addresses: string[]) => ({
    text: '',
    addresses: addresses.map((address) => ({ name: null, address })),
  });
  const stored = {
    subject: 'Hi',
    addresses: {
      from: list('Ada@Shop.test'),
      to: list('Hello@Inbox.test'),
      cc: list('Cc@x.test'),
      bcc: null,
      replyTo: null,
    },
    recipients: ['hello+tag@inbox.test', 'hello@inbox.test', null],
    textBody: 'plain text',
    htmlBody: '<style>p{color:red}</style><p>Fr<b>ee</b> &amp; sp&#105;ns</p><p>now</p><script>steal()</script>',
    attachments: [],
    authentication: null,
    injection: null,
    spam: { verdict: 'not_checked' as const, score: null },
  };

  test('contain every recipient once', () => {
    expect(toGuardFacts(stored).to).toEqual(['hello@inbox.test', 'cc@x.test', 'hello+tag@inbox.test']);
  });

  test('contain the visible text of either body', () => {
    const { text } = toGuardFacts(stored);
    expect(text.replace(/\s+/g, ' ')).toBe('Hi plain text Free & spins now ');
    expect(toGuardFacts({ ...stored, textBody: null, htmlBody: null }).text.trim()).toBe('Hi');
  });

  test('are limited: text beyond the limit of a body is ignored', () => {
    const text = (length: number) =>
      toGuardFacts({ ...stored, htmlBody: null, textBody: `${'x '.repeat(length / 2)}needle` });
    expect(readMatches({ hasWords: 'needle' }, text(99_000))).not.toBeNull();
    expect(readMatches({ hasWords: 'needle' }, text(100_000))).toBeNull();
  });

  test('are read from HTML that is too deep to clean', () => {
    const { text } = toGuardFacts({ ...stored, htmlBody: `${'<div>'.repeat(5_000)}casino` });
    expect(text).toContain('casino');
  });
});

// Each takes milliseconds to seconds with the limits of the product, and minutes without them: the time limit of a test ends it.
describe('hostile mail and rules take linear time', () => {
  const wordRules = (word: (n: number) => string) =>
    Array.from({ length: 5 }, (_, rule) =>
      makeRule({ hasWords: { values: Array.from({ length: 100 }, (__, n) => word(rule * 100 + n)) } }),
    );
  const expectNoMatch = (facts: Partial<GuardFacts>, rules: GuardRule[]) =>
    expect(evaluateRules(rules, { ...mail, ...facts }, NONE).kind).toBe('none');

  test('for as many words as an account may have, each nearly in the text', () => {
    const text = Array.from({ length: 40_000 }, (_, n) => `word${n}`).join(' ');
    expectNoMatch(
      { text },
      wordRules((n) => `word${n} word1 nothing`),
    );
  });

  test('for repetitive words in a repetitive text', () => {
    const text = `${'a'.repeat(490)}b`.repeat(400);
    expectNoMatch(
      { text },
      wordRules((n) => `${'a'.repeat(n % 200)}b${'a'.repeat(491)}`.slice(-500)),
    );
  });

  test('for characters that expand to many', () => {
    expectNoMatch({ text: '\ufdfa'.repeat(300_000) }, [makeRule({ hasWords: 'casino' })]);
  });

  test('for patterns with asterisks against a thousand long names', () => {
    const attachments = Array.from({ length: 1_000 }, () => ({ filename: 'a'.repeat(250), contentType: 'a/b' }));
    const values = Array.from({ length: 100 }, () => `${'a'.repeat(100)}*${'a'.repeat(100)}*ab*c`);
    expectNoMatch({ attachments }, [makeRule({ attachments: { values } })]);
  });

  test('for HTML with only opening tags', () => {
    expect(toGuardFacts({ ...guarded, htmlBody: '<'.repeat(300_000) }).text).toBeTypeOf('string');
  });

  test('for HTML too complex to clean, with one endless tag name', () => {
    const htmlBody = `${'<b>'.repeat(1_600)}<${'a'.repeat(190_000)}<`;
    expect(toGuardFacts({ ...guarded, htmlBody }).text).toBeTypeOf('string');
  });

  const guarded = {
    subject: '',
    addresses: { from: null, to: null, cc: null, bcc: null, replyTo: null },
    recipients: [],
    textBody: null,
    attachments: [],
    authentication: null,
    injection: null,
    spam: { verdict: 'not_checked' as const, score: null },
  };
});
