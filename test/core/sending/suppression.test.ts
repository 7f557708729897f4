import { describe, expect, test } from 'vitest';
import { suppressesAddress } from '../../../core/sending/suppression.ts';
import {
  DETERMINED_THINGS,
  HEADS_OF_PHRASES,
  MISSING_HEADS,
  OPEN_REFUSALS,
  UNRESOLVED_DOMAINS,
  UNRESOLVED_OTHERS,
} from './determined-refusals.ts';
import { HELD_OUT_POLICY_REFUSALS, OTHER_REFUSALS, POLICY_REFUSALS } from './policy-refusals.ts';

describe('suppresses an address after a rejection that says that it can receive no mail', () => {
  test.each([
    [556, null, ''],
    [521, null, ''],
    [550, '5.1.1', ''],
    [550, '5.1.10', ''],
    [null, '5.1.2', ''],
    [null, '5.1.6', ''],
    [550, '5.4.4', ''],
    [550, null, 'No such user here'],
    [550, '5.2.1', 'User unknown'],
    [554, '5.7.1', 'User unknown'],
    [554, '5.7.1', 'Utilisateur inconnu'],
    [550, '5.0.0', 'Empfänger joe@x.test ist hier nicht bekannt'],
    // The status is more exact than the code.
    [552, '5.1.1', ''],
    [554, '5.1.1', ''],
  ])('%s %s %s', (code, status, text) => {
    expect(suppressesAddress({ code, status, text })).toBe(true);
  });
});

describe('does not suppress an address after a rejection for another or an unknown reason', () => {
  test.each([
    ['unknown', 550, null, ''],
    ['unknown', 553, '5.0.0', 'Go away'],
    ['a disabled mailbox', 550, '5.2.1', ''],
    ['a loop', 554, '5.4.6', ''],
    ['the sender', 550, '5.1.7', ''],
    ['the sender', 550, '5.1.8', 'No such domain'],
    ['a full mailbox', 552, '5.2.2', ''],
    ['a full mailbox', 552, '5.1.1', 'sorry, mailbox joe@x.test is over quota'],
    ['the size', 552, '5.2.3', ''],
    ['the size', 552, '5.3.4', ''],
    ['the commands', 554, '5.5.1', ''],
    ['the content', 554, '5.6.0', ''],
    ['policy', 550, '5.7.1', ''],
    ['policy in the words of an unknown host', 550, '5.7.1', 'Client host unknown'],
    ['a specific policy in the words of an unknown user', 550, '5.7.26', 'User unknown'],
    ['a block list', 550, '5.1.1', 'Your IP address is on our blacklist'],
    ['the storage', 552, null, ''],
    ['the transaction', 554, null, ''],
    ['the authentication', 530, null, ''],
  ])('%s: %s %s %s', (_, code, status, text) => {
    expect(suppressesAddress({ code, status, text })).toBe(false);
  });
});

describe('does not suppress an address after a reply that is not a permanent rejection', () => {
  test.each([
    [450, null],
    [450, '4.1.1'],
    [451, '4.7.1'],
    [null, '4.2.2'],
    [250, null],
    [null, '2.1.5'],
    [null, null],
    [null, 'nonsense'],
  ])('%s %s', (code, status) => {
    expect(suppressesAddress({ code, status, text: 'User unknown' })).toBe(false);
  });
});

function makeRefusal(reply: string) {
  const [, code, status, text = ''] = /^(\d{3}) (?:(\d\.\d\.\d{1,3}) )?(.*)$/.exec(reply) ?? [];
  return { code: Number(code), status: status ?? null, text };
}

describe('does not suppress an address after a refusal of the message or the client', () => {
  test.each([...POLICY_REFUSALS, ...HELD_OUT_POLICY_REFUSALS, ...OTHER_REFUSALS])('%s', (reply) => {
    expect(suppressesAddress(makeRefusal(reply))).toBe(false);
  });

  test.each(POLICY_REFUSALS)('%s, with the status in the text only', (reply) => {
    expect(suppressesAddress({ code: Number(reply.slice(0, 3)), status: null, text: reply })).toBe(false);
  });
});

/** Two of the third that was kept aside: they are not read before the next cure. */
const UNSEEN_MISSES = 2;

/** Returns the replies that suppress their recipient, or those that do not, also behind a label that names it. */
function refusals(list: readonly string[], isSuppressing: boolean, recipient: string | null = 'joe@example.com') {
  const labels = recipient === null ? [''] : ['', `<${recipient}>: `];
  return list.filter((reply) => {
    const { code, status, text } = makeRefusal(reply);
    return labels.some(
      (label) => suppressesAddress({ code, status, text: `${label}${text}`, recipient }) === isSuppressing,
    );
  });
}

test('tells a thing of a recipient from the recipient, whatever determiner stands between them', () => {
  expect(refusals(DETERMINED_THINGS, true)).toEqual([]);
  expect(refusals(DETERMINED_THINGS, true, null)).toEqual([]);
  expect(refusals(OPEN_REFUSALS, false).length).toBeLessThanOrEqual(UNSEEN_MISSES);
});

test('reads the head of a phrase as what is missing, and not the recipient inside of it', () => {
  expect(refusals(HEADS_OF_PHRASES, true)).toEqual([]);
  expect(refusals(HEADS_OF_PHRASES, true, null)).toEqual([]);
  expect(refusals(MISSING_HEADS, false)).toEqual([]);
});

test('suppresses for a name without an address only when the recipient’s domain has none', () => {
  expect(refusals(UNRESOLVED_OTHERS, true, 'joe@x.test')).toEqual([]);
  expect(refusals(UNRESOLVED_OTHERS, true, null)).toEqual([]);
  expect(refusals(UNRESOLVED_DOMAINS, false, 'joe@x.test')).toEqual([]);
});

describe('suppresses an address after loose words for an unknown recipient', () => {
  test.each([
    '550 Ms Miller is no longer employed here',
    '550 Mr. Smith left us',
    '550 Herr Müller ist hier nicht bekannt',
    '550 There has never been a mailbox by that name',
    '550 5.1.1 The address appears to be a typo',
    '550 Adresse ist hier nicht registriert',
    '550 No such box',
    '550 Pan Kowalski nie jest znany, nie ma takiego użytkownika',
    '550 5.7.1 No such user on this server',
    '550 Kein Benutzerkonto unter diesem Namen',
    '550 Kein Empfänger kann gefunden werden',
    '550 Kein Nutzer mit diesem Namen',
    '550 Žádný uživatel tohoto jména není',
    '550 Nema korisnika',
    '550 The recipient has left us',
    '550 Mailbox disabled: user has left',
    '550 Account disabled: the user has left the company',
    '550 The employee has left in 2024',
  ])('%s', (reply) => {
    expect(suppressesAddress(makeRefusal(reply))).toBe(true);
  });
});
