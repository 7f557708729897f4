import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRecipient } from '../../../actors/receiving/check-recipient.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertSentMail, recipientCheck, type SentMail } from '../../support/rows/sent-mail.ts';

let test_: TestDatabase;
let actor: Database;
let hello: TestMailbox;
let tagged: TestMailbox;
let caught: TestMailbox;

const NO_SUCH_MAILBOX = { verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No such mailbox' };
const RELAY_DENIED = { verdict: 'reject', code: 550, enhancedCode: '5.7.1', text: 'Relay denied' };

const check = (forwardPath: string) => checkRecipient(recipientCheck(actor), forwardPath, 'ann@elsewhere.test');

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
  hello = await createMailbox(actor, { domain: 'plain.test', address: 'hello@plain.test' });
  const { workspaceId } = hello;
  tagged = await createMailbox(actor, { workspaceId, domain: 'plain.test', address: 'hello+news@plain.test' });
  await createMailbox(actor, { workspaceId, domain: 'plain.test', address: 'off@plain.test', isActive: false });
  caught = await createMailbox(actor, { domain: 'all.test', address: 'known@all.test', isCatchAllEnabled: true });
  const inactive = { workspaceId: caught.workspaceId, domain: 'all.test', isActive: false };
  await createMailbox(actor, { ...inactive, address: 'off@all.test' });
  await createMailbox(actor, { ...inactive, address: 'off+tag@all.test' });
  await createMailbox(actor, { domain: 'pending.test', address: 'a@pending.test', domainStatus: 'pending' });
  await createMailbox(actor, { domain: 'xn--mnchen-3ya.test', address: 'a@xn--mnchen-3ya.test' });
});
afterAll(() => test_.drop());

function accepted(mailbox: TestMailbox) {
  const { workspaceId, addressId, domainId, address } = mailbox;
  return { verdict: 'accept', workspaceId, addressId, domainId, ownAddress: address };
}

test.each([
  'hello@plain.test',
  'HELLO@Plain.Test',
  'hello+tag@plain.test',
  'Hello+a+b@plain.test',
  'hello+@plain.test',
  '"hello"@plain.test',
])('%s is accepted by the address hello', async (recipient) => {
  expect(await check(recipient)).toEqual(accepted(hello));
});

test('an address that contains the plus-tag itself wins over the one without', async () => {
  expect(await check('hello+NEWS@plain.test')).toEqual(accepted(tagged));
});

test.each([
  'nobody@plain.test',
  'nobody+hello@plain.test',
  '+hello@plain.test',
  'off@plain.test',
  'off+tag@plain.test',
  'off@all.test',
  'off+x@all.test',
  'off+tag@all.test',
  '"x@elsewhere"@plain.test',
  'hello%elsewhere.test@plain.test',
  'elsewhere.test!hello@plain.test',
  '"hello+x@plain.test"@plain.test',
])('%s is not a mailbox', async (recipient) => {
  expect(await check(recipient)).toMatchObject(NO_SUCH_MAILBOX);
});

test.each([
  'hello@elsewhere.test',
  'hello@sub.plain.test',
  'hello@plain.test.',
  'a@pending.test',
  'hello@[127.0.0.1]',
  'hello',
  '@plain.test',
  'hello@',
  '',
  'hel\0lo@plain.test',
])('%j is refused as relaying', async (recipient) => {
  expect(await check(recipient)).toEqual(RELAY_DENIED);
});

test('the catch-all accepts what no address accepts, and known addresses keep their own mail', async () => {
  const { workspaceId, domainId } = caught;
  const byCatchAll = { verdict: 'accept', workspaceId, addressId: null, domainId };
  expect(await check('Any.One@all.test')).toEqual({ ...byCatchAll, ownAddress: 'any.one@all.test' });
  expect(await check('any+tag@all.test')).toEqual({ ...byCatchAll, ownAddress: 'any@all.test' });
  expect(await check('a%b@all.test')).toEqual({ ...byCatchAll, ownAddress: 'a%b@all.test' });
  expect(await check('known@all.test')).toEqual(accepted(caught));
});

test('a domain in Unicode is found under its ASCII name', async () => {
  expect(await check('a@MÜNCHEN.test')).toMatchObject({ ownAddress: 'a@xn--mnchen-3ya.test' });
});

test('an address on a domain that another user owns now accepts nothing', async () => {
  const old = await createMailbox(actor, { domain: 'moved.test', address: 'a@moved.test' });
  const heir = await createMailbox(actor, { domain: 'heir.test', address: 'a@heir.test' });
  await actor.pool.query(`update domain set name = 'moved.test' where workspace_id = $1 and id = $2`, [
    heir.workspaceId,
    heir.domainId,
  ]);
  await actor.pool.query(
    `update verified_domain_name set workspace_id = $1, domain_id = $2 where name = 'moved.test'`,
    [heir.workspaceId, heir.domainId],
  );
  expect(old.workspaceId).not.toBe(heir.workspaceId);
  expect(await check('a@moved.test')).toMatchObject(NO_SUCH_MAILBOX);
});

test('a domain that is no longer verified accepts nothing', async () => {
  const lapsed = await createMailbox(actor, { domain: 'lapsed.test', address: 'a@lapsed.test' });
  expect(await check('a@lapsed.test')).toEqual(accepted(lapsed));
  await actor.pool.query(`update domain set status = 'failed' where workspace_id = $1`, [lapsed.workspaceId]);
  expect(await check('a@lapsed.test')).toEqual(RELAY_DENIED);
});

describe('a return address', () => {
  let owner: TestMailbox;
  let sent: SentMail;
  beforeAll(async () => {
    owner = await createMailbox(actor, {
      domain: 'sender.test',
      address: 'owner@sender.test',
      isCatchAllEnabled: true,
    });
    sent = await insertSentMail(actor, owner);
  });
  const own = () => accepted(owner);

  test('is accepted by the From address of its email, at the domain and at its MAIL FROM domain', async () => {
    expect(await check(sent.returnAddress())).toEqual(own());
    expect(await check(sent.returnAddress(0, 'mail.sender.test'))).toEqual(own());
  });

  test('is accepted in any letter case, and in needless quotes', async () => {
    const [local = '', domain = ''] = sent.returnAddress(0, 'mail.sender.test').split('@');
    expect(await check(`${local.toUpperCase()}@Mail.Sender.TEST`)).toEqual(own());
    expect(await check(`"${local}"@${domain}`)).toEqual(own());
  });

  test('is accepted even if the From address is no mailbox, or disabled', async () => {
    const { workspaceId, domainId } = owner;
    const other = await insertSentMail(actor, owner, { from: 'no-reply@sender.test' });
    const ownAddress = 'no-reply@sender.test';
    const verdict = { verdict: 'accept', workspaceId, domainId, addressId: null, ownAddress };
    expect(await check(other.returnAddress())).toEqual(verdict);
    const off = await createMailbox(actor, {
      workspaceId,
      domain: 'sender.test',
      address: 'idle@sender.test',
      isActive: false,
    });
    const third = await insertSentMail(actor, off);
    expect(await check(third.returnAddress())).toEqual(accepted(off));
  });

  const forgeries: [string, (address: string) => string][] = [
    ['with another signature', (address) => address.replace(/.@/, (end) => (end === 'a@' ? 'b@' : 'a@'))],
    ['with another identifier', (address) => address.replace(/\+.{8}/, '+aaaaaaaa')],
    ['that is all made up', (address) => address.replace(/\+.{52}/, `+${'a'.repeat(52)}`)],
    ['signed for another domain', (address) => address.replace('@sender', '@mail.sender')],
  ];
  test.each(forgeries)('%s is no mailbox, whatever the catch-all takes', async (_, forge) => {
    const forged = forge(sent.returnAddress());
    expect(forged).not.toBe(sent.returnAddress());
    expect(await check(forged)).toMatchObject(NO_SUCH_MAILBOX);
  });

  test('of another user’s email is no mailbox at a domain of ours', async () => {
    const theirs = await insertSentMail(actor, caught);
    expect(await check(theirs.returnAddress(0, 'sender.test'))).toMatchObject(NO_SUCH_MAILBOX);
    expect(await check(theirs.returnAddress(0, 'mail.sender.test'))).toMatchObject(NO_SUCH_MAILBOX);
  });

  test('of an email from another domain of the same user is no mailbox', async () => {
    const second = await createMailbox(actor, {
      workspaceId: owner.workspaceId,
      domain: 'second.test',
      address: 'a@second.test',
    });
    const other = await insertSentMail(actor, second);
    expect(await check(other.returnAddress(0, 'sender.test'))).toMatchObject(NO_SUCH_MAILBOX);
  });

  test('of an email that is gone is no mailbox', async () => {
    const gone = await insertSentMail(actor, owner);
    await actor.pool.query('delete from recipient where email_id = $1', [gone.emailId]);
    expect(await check(gone.returnAddress())).toMatchObject(NO_SUCH_MAILBOX);
  });

  test('is refused as relaying at a domain that is not ours, signed or not', async () => {
    expect(await check(sent.returnAddress(0, 'elsewhere.test'))).toEqual(RELAY_DENIED);
    expect(await check(sent.returnAddress(0, 'mail.elsewhere.test'))).toEqual(RELAY_DENIED);
    expect(await check(sent.returnAddress(0, 'mail.mail.sender.test'))).toEqual(RELAY_DENIED);
    expect(await check(`bounce+${'a'.repeat(52)}@pending.test`)).toEqual(RELAY_DENIED);
  });

  test('makes no other address of the MAIL FROM domain ours', async () => {
    expect(await check('owner@mail.sender.test')).toEqual(RELAY_DENIED);
    expect(await check('bounce+x@mail.sender.test')).toEqual(RELAY_DENIED);
  });

  test('leads to the right email where both domains are verified by users', async () => {
    const { domain, address } = { domain: 'mail.sender.test', address: 'a@mail.sender.test' };
    const below = await createMailbox(actor, { domain, address });
    const theirs = await insertSentMail(actor, below);
    expect(await check(theirs.returnAddress())).toEqual(accepted(below));
    expect(await check(sent.returnAddress(0, 'mail.sender.test'))).toEqual(own());
  });
});

test('an unreachable PostgreSQL throws at our time limit and never gives a verdict', async () => {
  const owner = await test_.open(null).pool.connect();
  await owner.query('begin; lock table verified_domain_name in access exclusive mode');
  await expect(check('hello@plain.test')).rejects.toThrow(/timeout/);
  await owner.query('rollback');
  owner.release();
});
