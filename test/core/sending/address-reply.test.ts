import { describe, expect, test } from 'vitest';
import type { Mailbox } from '../../../core/mime/address.ts';
import {
  makeReply,
  type Original,
  replyLinks,
  replySubject,
  trimReferences,
  unsendableAddressee,
} from '../../../core/sending/address-reply.ts';

const list = (...addresses: (string | Mailbox)[]) => ({
  text: '',
  addresses: addresses.map((given) => (typeof given === 'string' ? { name: null, address: given } : given)),
});

const received: Original = {
  isOwn: false,
  messageId: '<b@x.test>',
  inReplyTo: ['<a@x.test>'],
  references: ['<root@x.test>', '<a@x.test>'],
  subject: 'Lunch',
  addresses: {
    from: list({ name: 'Bob', address: 'bob@x.test' }),
    to: list('me@own.test', 'carol@x.test'),
    cc: list('dan@x.test', 'also-me@own.test'),
    bcc: list('secret@x.test'),
    replyTo: null,
  },
};
const sent: Original = {
  ...received,
  isOwn: true,
  addresses: { ...received.addresses, from: list('me@own.test'), to: list('bob@x.test', 'me@own.test') },
};
const isOneself = (address: string) => ['me@own.test', 'also-me@own.test'].includes(address.toLowerCase());
const plain = { to: null, subject: null, audience: 'sender' } as const;
const toAll = { ...plain, audience: 'all' } as const;
const withAddresses = (over: Partial<Original['addresses']>, original = received): Original => ({
  ...original,
  addresses: { ...original.addresses, ...over },
});
const listAddresses = (mailboxes: readonly Mailbox[]) => mailboxes.map((mailbox) => mailbox.address);

test('a reply goes to From, with its name', () => {
  expect(makeReply(received, plain, isOneself)).toEqual({
    to: [{ name: 'Bob', address: 'bob@x.test' }],
    cc: [],
    subject: 'Re: Lunch',
    inReplyTo: '<b@x.test>',
    references: ['<root@x.test>', '<a@x.test>', '<b@x.test>'],
  });
});

describe('a reply goes to', () => {
  test.each([
    [
      'Reply-To before From',
      withAddresses({ replyTo: list('list@x.test', 'help@x.test') }),
      ['list@x.test', 'help@x.test'],
    ],
    ['From when Reply-To is empty', withAddresses({ replyTo: list() }), ['bob@x.test']],
    ['each address once', withAddresses({ from: list('bob@x.test', 'Bob@X.test') }), ['bob@x.test']],
    ['To again when the message is ours', sent, ['bob@x.test']],
    ['never oneself', withAddresses({ replyTo: list('me@own.test', 'bob@x.test') }), ['bob@x.test']],
    ['the others when one wrote from an own address', withAddresses({ from: list('ME@own.test') }), ['carol@x.test']],
    ['an A-label domain', withAddresses({ from: list('bob@bücher.test') }), ['bob@xn--bcher-kva.test']],
    ['nobody when the sender cannot be written to', withAddresses({ from: list('bob') }), []],
    ['nobody when no field is there', withAddresses({ from: null, to: null }), []],
    ['nobody but oneself', withAddresses({ from: list('me@own.test'), to: list('also-me@own.test') }), []],
    ['nobody when a line end was smuggled in', withAddresses({ from: list('a@x.test\r\nBcc: b@x.test') }), []],
  ])('%s', (_, original, to) => {
    const reply = makeReply(original, plain, isOneself);
    expect(listAddresses(reply.to)).toEqual(to);
    expect(reply.cc).toEqual([]);
  });

  test('the recipients that the user gives', () => {
    const to = [{ name: null, address: 'eve@y.test' }];
    expect(makeReply(received, { ...plain, to }, isOneself).to).toEqual(to);
  });

  test('names the address that mail cannot be sent to', () => {
    const original = withAddresses({ from: list('grå@grå.example') });
    expect(makeReply(original, plain, isOneself).to).toEqual([]);
    expect(unsendableAddressee(original, isOneself)).toBe('grå@grå.example');
    expect(unsendableAddressee(received, isOneself)).toBeNull();
  });
});

describe('a reply to all has in Cc', () => {
  test.each([
    ['the other addressees, not oneself, not blind copies', received, ['carol@x.test', 'dan@x.test']],
    [
      'nobody who gets it as To',
      withAddresses({ cc: list('BOB@x.test', 'dan@x.test') }),
      ['carol@x.test', 'dan@x.test'],
    ],
    ['each once', withAddresses({ cc: list('carol@x.test', 'Carol@x.test') }), ['carol@x.test']],
    ['the Cc of a message that was ours', sent, ['dan@x.test']],
    ['nobody who cannot be written to', withAddresses({ cc: list('martin', 'a@b@c', 'ü@x.test') }), ['carol@x.test']],
    ['nobody when there was nobody else', withAddresses({ to: list('me@own.test'), cc: null }), []],
  ])('%s', (_, original, cc) => {
    expect(listAddresses(makeReply(original, toAll, isOneself).cc)).toEqual(cc);
  });

  test('no address that the user put in To', () => {
    const to = [{ name: null, address: 'Dan@x.test' }];
    expect(listAddresses(makeReply(received, { ...toAll, to }, isOneself).cc)).toEqual(['carol@x.test']);
  });
});

describe('the subject of a reply', () => {
  test.each([
    ['Lunch', 'Re: Lunch'],
    ['Re: Lunch', 'Re: Lunch'],
    ['RE: Lunch', 'RE: Lunch'],
    ['re:Lunch', 're:Lunch'],
    ['Re[2]: Lunch', 'Re[2]: Lunch'],
    ['AW: Lunch', 'Re: Lunch'],
    ['Sv: Lunch', 'Re: Lunch'],
    ['VS: Lunch', 'Re: Lunch'],
    ['Antw: Lunch', 'Re: Lunch'],
    ['RES: Lunch', 'Re: Lunch'],
    ['AW: Re: SV: Lunch', 'Re: Lunch'],
    ['Re: AW: Lunch', 'Re: Lunch'],
    ['AW: Fwd: Lunch', 'Re: Fwd: Lunch'],
    ['[team] AW: Lunch', 'Re: [team] Lunch'],
    ['AW: [Ticket#12] Printer', 'Re: [Ticket#12] Printer'],
    ['AW:', 'Re:'],
    ['[team] Re: Lunch', '[team] Re: Lunch'],
    ['回复：午餐', 'Re: 午餐'],
    ['Fwd: Lunch', 'Re: Fwd: Lunch'],
    ['Fwd: Re: Lunch', 'Re: Fwd: Re: Lunch'],
    ['Regarding lunch', 'Re: Regarding lunch'],
    ['', 'Re:'],
    ['  Lunch\r\n at noon ', 'Re: Lunch at noon'],
    ['Lunch\u2028Bcc: a@x.test', 'Re: Lunch Bcc: a@x.test'],
  ])('%j is %j', (subject, reply) => {
    expect(replySubject(subject)).toBe(reply);
  });

  test('gets no second Re: after several replies', () => {
    expect(replySubject(replySubject(replySubject('Lunch')))).toBe('Re: Lunch');
  });

  test('is the one the user gives', () => {
    expect(makeReply(received, { ...plain, subject: 'Dinner' }, isOneself).subject).toBe('Dinner');
  });

  test('has at most 998 characters', () => {
    expect(replySubject(`${'x'.repeat(993)}🎉`)).toHaveLength(998);
    expect(replySubject(`${'x'.repeat(993)}🎉`).isWellFormed()).toBe(true);
  });
});

describe('In-Reply-To and References of a reply', () => {
  const links = (over: Partial<Original>) => replyLinks({ ...received, ...over });
  test.each([
    ['References and the id', {}, ['<root@x.test>', '<a@x.test>', '<b@x.test>']],
    ['In-Reply-To when there are no References', { references: [] }, ['<a@x.test>', '<b@x.test>']],
    ['the id alone when In-Reply-To names several', { references: [], inReplyTo: ['<a@x>', '<c@x>'] }, ['<b@x.test>']],
    ['the id alone of a first message', { references: [], inReplyTo: [] }, ['<b@x.test>']],
    ['the id last when it names itself', { references: ['<b@x.test>', '<a@x.test>'] }, ['<a@x.test>', '<b@x.test>']],
    ['each id once', { references: ['<a@x.test>', '<a@x.test>'] }, ['<a@x.test>', '<b@x.test>']],
    ['no id that fits no line', { references: [`<${'a'.repeat(997)}@x>`] }, ['<b@x.test>']],
    ['no id beyond ASCII', { references: ['<ü@x>'] }, ['<b@x.test>']],
  ])('contain %s', (_, over, references) => {
    expect(links(over)).toEqual({ inReplyTo: '<b@x.test>', references });
  });

  test('continue the references of a message without an id', () => {
    expect(links({ messageId: null })).toEqual({ inReplyTo: null, references: ['<root@x.test>', '<a@x.test>'] });
  });

  test('keep the first and the last 99 of a long chain', () => {
    const chain = Array.from({ length: 500 }, (_, index) => `<${index}@x.test>`);
    expect(trimReferences(chain)).toEqual(['<0@x.test>', ...chain.slice(-99)]);
    expect(trimReferences(chain.slice(0, 100))).toEqual(chain.slice(0, 100));
  });

  test('keep at most 8,000 bytes, but always the first and the last id', () => {
    const chain = Array.from({ length: 50 }, (_, index) => `<${'x'.repeat(900)}${index}@x.test>`);
    const kept = trimReferences(chain);
    expect(kept.join(' ').length).toBeLessThanOrEqual(8_000);
    expect([kept[0], kept.at(-1), kept.length]).toEqual([chain[0], chain.at(-1), 8]);
    expect(trimReferences([`<${'a'.repeat(5_000)}@x>`, `<${'b'.repeat(5_000)}@x>`])).toHaveLength(2);
    expect(trimReferences([])).toEqual([]);
  });
});
