import { describe, expect, test } from 'vitest';
import type { Finding, OutgoingContent } from '../../../core/sending/outgoing-content.ts';
import {
  type HeldPolicy,
  isStricter,
  judgeByPolicies,
  type PolicyFacts,
  type SendPolicy,
  sendPolicyShape,
} from '../../../core/sending/send-policy.ts';

const WHOLE = {
  recipients: 'list',
  allow: ['ann@example.com', 'example.net'],
  per_hour: 10,
  per_day: 50,
  attachments: true,
  links: true,
  undo_seconds: 30,
  auto_replies_per_thread_per_hour: 3,
  approval: 'new_recipients',
};

test('accepts the whole shape and rejects a policy without a rule', () => {
  expect(sendPolicyShape.parse(WHOLE)).toEqual(WHOLE);
  expect(sendPolicyShape.safeParse({}).success).toBe(false);
});

test.each<[before: SendPolicy | null, after: SendPolicy, isStricter: boolean]>([
  [null, { per_hour: 1_000 }, true],
  [null, { recipients: 'any', attachments: true, links: true, undo_seconds: 0, approval: 'never' }, false],
  [{ per_hour: 10 }, { per_hour: 1_000 }, false],
  [{ per_hour: 10 }, { per_hour: 9 }, true],
  [{ per_hour: 10 }, { per_day: 1_000 }, true],
  [{ auto_replies_per_thread_per_hour: 1 }, { auto_replies_per_thread_per_hour: 0 }, true],
  [{ recipients: 'participants' }, { recipients: 'any' }, false],
  [{ recipients: 'participants' }, { recipients: 'participants' }, false],
  [{ recipients: 'participants' }, { recipients: 'list', allow: ['a.test'] }, true],
  [{ recipients: 'list', allow: ['a@a.test', 'b.test'] }, { recipients: 'list', allow: ['b.test', 'a.test'] }, false],
  [{ recipients: 'list', allow: ['a.test'] }, { recipients: 'list', allow: ['a@a.test'] }, true],
  [{ recipients: 'list', allow: ['a.test'] }, { recipients: 'participants' }, true],
  [{ links: false }, { links: true }, false],
  [{ links: false }, { attachments: false }, true],
  [{ attachments: false }, { links: false }, true],
  [{ undo_seconds: 60 }, { undo_seconds: 30 }, false],
  [{ undo_seconds: 30 }, { undo_seconds: 60 }, true],
  [{ approval: 'always' }, { approval: 'on_review' }, false],
  [{ approval: 'new_recipients' }, { approval: 'on_review' }, true],
  [{ approval: 'on_review' }, { approval: 'always' }, true],
  [{ approval: 'on_review', per_hour: 5 }, { approval: 'never', per_hour: 4 }, true],
])('%o is followed by %o: stricter %s', (before, after, expected) => {
  expect(isStricter(after, before)).toBe(expected);
});

test('normalizes addresses and domains, each once', () => {
  const allow = [
    ' Ann@Example.COM ',
    'ann@example.com',
    'BÜCHER.example',
    'Kim+tag@xn--bcher-kva.example',
    ' @Bücher.Example',
  ];
  expect(sendPolicyShape.parse({ recipients: 'list', allow }).allow).toEqual([
    'ann@example.com',
    'xn--bcher-kva.example',
    'kim+tag@xn--bcher-kva.example',
  ]);
});

test.for<[unknown, string]>([
  [{ per_hours: 1 }, ''],
  [{ recipients: 'everyone' }, 'recipients'],
  [{ recipients: 'list' }, 'allow'],
  [{ recipients: 'list', allow: [] }, 'allow'],
  [{ recipients: 'any', allow: ['ann@example.com'] }, 'allow'],
  [{ allow: ['ann@example.com'] }, 'allow'],
  [{ recipients: 'list', allow: ['no domain'] }, 'allow.0'],
  [{ recipients: 'list', allow: ['example.com', '@'] }, 'allow.1'],
  [{ recipients: 'list', allow: ['@@example.com'] }, 'allow.0'],
  [{ recipients: 'list', allow: ['@ann@example.com'] }, 'allow.0'],
  [{ recipients: 'list', allow: ['@com'] }, 'allow.0'],
  [{ recipients: 'list', allow: ['@.example.com'] }, 'allow.0'],
  [{ recipients: 'list', allow: ['@*.example.com'] }, 'allow.0'],
  [{ recipients: 'list', allow: ['@192.0.2.1'] }, 'allow.0'],
  [{ recipients: 'list', allow: ['Ann <ann@example.com>'] }, 'allow.0'],
  [{ recipients: 'list', allow: Array.from({ length: 501 }, (_, at) => `a${at}.example`) }, 'allow'],
  [{ per_hour: 0 }, 'per_hour'],
  [{ per_hour: 1.5 }, 'per_hour'],
  [{ per_day: 1_000_000 }, 'per_day'],
  [{ undo_seconds: -1 }, 'undo_seconds'],
  [{ undo_seconds: 86_401 }, 'undo_seconds'],
  [{ auto_replies_per_thread_per_hour: 1_001 }, 'auto_replies_per_thread_per_hour'],
  [{ attachments: 'no' }, 'attachments'],
  [{ links: null }, 'links'],
  [{ approval: true }, 'approval'],
  [[], ''],
])('refuses %j at %j', ([given, field]) => {
  const { error } = sendPolicyShape.safeParse(given);
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
});

test.for<[string, RegExp]>([
  ['@*.example.com', /wildcards/],
  ['@ann@example.com', /one domain after the @, such as `@example.com`/],
  ['no domain', /email address \(`ann@example.com`\) or a domain \(`example.com` or `@example.com`\)/],
])('says what %j in allow is not', ([entry, words]) => {
  const { error } = sendPolicyShape.safeParse({ recipients: 'list', allow: [entry] });
  expect(error?.issues[0]?.message).toMatch(words);
});

test('allows a whole domain by `@example.com`, without its subdomains', () => {
  const policy = sendPolicyShape.parse({ recipients: 'list', allow: ['@Example.com'] });
  expect(judge(policy).refusal).toBeNull();
  expect(judge(policy, { recipients: ['ann@sub.example.com'] }).refusal?.rule).toBe('recipients');
});

const FACTS: PolicyFacts = {
  recipients: ['ann@example.com'],
  participants: null,
  newRecipients: [],
  followsReview: false,
  content: null,
};

const finding = (what: string): Finding => ({ what, where: 'part 1 (text/plain)', field: 'text' });
const content = (found: Partial<OutgoingContent>) => ({ content: { link: null, file: null, doubt: null, ...found } });
const LINK = content({ link: finding('https://example.com') });
const FILE = content({ file: finding('a.pdf') });
const DOUBT = content({ doubt: finding('its base64 is not valid') });

function judge(policy: SendPolicy, facts: Partial<PolicyFacts> = {}) {
  return judgeByPolicies([{ of: 'key', owner: 'key_1', policy }], { ...FACTS, ...facts });
}

describe('refuses by the rule', () => {
  const people = (...addresses: string[]) => new Set(addresses);
  test.for<[SendPolicy, Partial<PolicyFacts>, string | null]>([
    [{}, { ...FILE, ...LINK }, null],
    [{ recipients: 'any' }, {}, null],
    [{ recipients: 'list', allow: ['ann@example.com'] }, {}, null],
    [{ recipients: 'list', allow: ['example.com'] }, {}, null],
    [{ recipients: 'list', allow: ['example.com'] }, { recipients: ['ann@sub.example.com'] }, 'recipients'],
    [{ recipients: 'list', allow: ['example.com'] }, { recipients: ['ann@notexample.com'] }, 'recipients'],
    [{ recipients: 'list', allow: ['kim@example.com'] }, {}, 'recipients'],
    [{ recipients: 'list', allow: ['example.com'] }, { recipients: ['a@example.com', 'b@example.org'] }, 'recipients'],
    [{ recipients: 'participants' }, {}, 'recipients'],
    [{ recipients: 'participants' }, { participants: people() }, 'recipients'],
    [{ recipients: 'participants' }, { participants: people('ann@example.com') }, null],
    [{ attachments: false }, {}, null],
    [{ attachments: true }, FILE, null],
    [{ attachments: false }, FILE, 'attachments'],
    [{ attachments: false }, DOUBT, 'attachments'],
    [{ attachments: false }, LINK, null],
    [{ links: true }, LINK, null],
    [{ links: false }, {}, null],
    [{ links: false }, LINK, 'links'],
    [{ links: false }, DOUBT, 'links'],
    [{ links: true }, DOUBT, null],
    [{ links: false }, FILE, null],
  ])('%j with %j: %s', ([policy, facts, rule]) => {
    expect(judge(policy, facts).refusal?.rule ?? null).toBe(rule);
  });
});

test.for<[SendPolicy['approval'], string[], boolean]>([
  [undefined, ['ann@example.com'], false],
  ['never', ['ann@example.com'], false],
  ['new_recipients', [], false],
  ['new_recipients', ['ann@example.com'], true],
  ['always', [], true],
])('requires approval %s with new recipients %j: %s', ([approval, newRecipients, isNeeded]) => {
  expect(judge(approval === undefined ? {} : { approval }, { newRecipients }).approval !== null).toBe(isNeeded);
});

test.for<[SendPolicy['approval'], boolean, boolean]>([
  ['on_review', false, false],
  ['on_review', true, true],
  ['new_recipients', true, false],
  ['never', true, false],
])('requires approval %s of an email that follows mail for review (%s): %s', ([approval, followsReview, isNeeded]) => {
  expect(judge({ approval }, { followsReview }).approval !== null).toBe(isNeeded);
});

test('of the policies of key and address the stricter holds', () => {
  const held: HeldPolicy[] = [
    { of: 'key', owner: 'key_1', policy: { recipients: 'list', allow: ['example.com'], undo_seconds: 5 } },
    { of: 'address', owner: 'bot@example.org', policy: { attachments: false, undo_seconds: 60, approval: 'always' } },
  ];
  expect(judgeByPolicies(held, FACTS)).toEqual({
    refusal: null,
    approval: { rule: 'always', of: 'address' },
    undoSeconds: 60,
  });
  const { refusal } = judgeByPolicies(held, { ...FACTS, ...FILE });
  expect(refusal).toEqual({
    rule: 'attachments',
    of: 'address',
    owner: 'bot@example.org',
    recipient: null,
    field: 'text',
    message:
      'The send policy of bot@example.org allows no attachments, and the email has a.pdf in part 1 (text/plain).',
  });
  expect(judgeByPolicies(held, { ...FACTS, recipients: ['x@example.net'] }).refusal?.of).toBe('key');
});
