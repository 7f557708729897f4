import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkRecipient } from '../../../actors/receiving/check-recipient.ts';
import type { Database } from '../../../db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createMailbox, type TestMailbox } from '../../support/routing-rows.ts';

let test_: TestDatabase;
let actor: Database;
let hello: TestMailbox;
let tagged: TestMailbox;
let caught: TestMailbox;

const NO_SUCH_MAILBOX = { verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No such mailbox' };
const RELAY_DENIED = { verdict: 'reject', code: 550, enhancedCode: '5.7.1', text: 'Relay denied' };

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
  hello = await createMailbox(actor, { domain: 'plain.test', address: 'hello@plain.test' });
  const { userId } = hello;
  tagged = await createMailbox(actor, { userId, domain: 'plain.test', address: 'hello+news@plain.test' });
  await createMailbox(actor, { userId, domain: 'plain.test', address: 'off@plain.test', isActive: false });
  caught = await createMailbox(actor, { domain: 'all.test', address: 'known@all.test', isCatchAllEnabled: true });
  const inactive = { userId: caught.userId, domain: 'all.test', isActive: false };
  await createMailbox(actor, { ...inactive, address: 'off@all.test' });
  await createMailbox(actor, { ...inactive, address: 'off+tag@all.test' });
  await createMailbox(actor, { domain: 'pending.test', address: 'a@pending.test', domainStatus: 'pending' });
  await createMailbox(actor, { domain: 'xn--mnchen-3ya.test', address: 'a@xn--mnchen-3ya.test' });
});
afterAll(() => test_.drop());

function accepted(mailbox: TestMailbox) {
  const { userId, addressId, domainId, address } = mailbox;
  return { verdict: 'accept', userId, addressId, domainId, ownAddress: address };
}

test.each([
  'hello@plain.test',
  'HELLO@Plain.Test',
  'hello+tag@plain.test',
  'Hello+a+b@plain.test',
  'hello+@plain.test',
  '"hello"@plain.test',
])('%s is taken by the address hello', async (recipient) => {
  expect(await checkRecipient(actor, recipient)).toEqual(accepted(hello));
});

test('an address that bears the plus-tag itself comes before the one without', async () => {
  expect(await checkRecipient(actor, 'hello+NEWS@plain.test')).toEqual(accepted(tagged));
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
])('%s is no mailbox', async (recipient) => {
  expect(await checkRecipient(actor, recipient)).toEqual(NO_SUCH_MAILBOX);
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
])('%j would be relaying', async (recipient) => {
  expect(await checkRecipient(actor, recipient)).toEqual(RELAY_DENIED);
});

test('the catch-all takes what no address takes, and the known address keeps its own', async () => {
  const { userId, domainId } = caught;
  const byCatchAll = { verdict: 'accept', userId, addressId: null, domainId };
  expect(await checkRecipient(actor, 'Any.One@all.test')).toEqual({ ...byCatchAll, ownAddress: 'any.one@all.test' });
  expect(await checkRecipient(actor, 'any+tag@all.test')).toEqual({ ...byCatchAll, ownAddress: 'any@all.test' });
  expect(await checkRecipient(actor, 'a%b@all.test')).toEqual({ ...byCatchAll, ownAddress: 'a%b@all.test' });
  expect(await checkRecipient(actor, 'known@all.test')).toEqual(accepted(caught));
});

test('a domain in Unicode is found under its ASCII name', async () => {
  expect(await checkRecipient(actor, 'a@MÜNCHEN.test')).toMatchObject({ ownAddress: 'a@xn--mnchen-3ya.test' });
});

test('an address on a domain that another user owns by now takes nothing', async () => {
  const old = await createMailbox(actor, { domain: 'moved.test', address: 'a@moved.test' });
  const heir = await createMailbox(actor, { domain: 'heir.test', address: 'a@heir.test' });
  await actor.pool.query(`update domain set name = 'moved.test' where user_id = $1 and id = $2`, [
    heir.userId,
    heir.domainId,
  ]);
  await actor.pool.query(`update verified_domain_name set user_id = $1, domain_id = $2 where name = 'moved.test'`, [
    heir.userId,
    heir.domainId,
  ]);
  expect(old.userId).not.toBe(heir.userId);
  expect(await checkRecipient(actor, 'a@moved.test')).toEqual(NO_SUCH_MAILBOX);
});

test('a domain that is no longer verified takes nothing', async () => {
  const lapsed = await createMailbox(actor, { domain: 'lapsed.test', address: 'a@lapsed.test' });
  expect(await checkRecipient(actor, 'a@lapsed.test')).toEqual(accepted(lapsed));
  await actor.pool.query(`update domain set status = 'failed' where user_id = $1`, [lapsed.userId]);
  expect(await checkRecipient(actor, 'a@lapsed.test')).toEqual(RELAY_DENIED);
});

test('trouble with PostgreSQL is thrown within the limit of the question, never a verdict', async () => {
  const owner = await test_.open(null).pool.connect();
  await owner.query('begin; lock table verified_domain_name in access exclusive mode');
  const startedAt = performance.now();
  await expect(checkRecipient(actor, 'hello@plain.test')).rejects.toThrow(/timeout/);
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  await owner.query('rollback');
  owner.release();
});
