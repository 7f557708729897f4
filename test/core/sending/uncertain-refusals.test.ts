import { describe, expect, test } from 'vitest';
import { suppressesAddress } from '../../../core/sending/suppression.ts';

const refusal = (text: string) => ({ code: 550, status: null, text });

describe('what a refusal says for sure decides, also beside what it is not sure of', () => {
  test.each([
    'mailbox is closed from 1 Jan 2026',
    'mailbox is closed from 1 Jan 2026 due to 2 years without use',
    'mailbox is closed from 2026-01-01',
    'the mailbox was closed from 2025 on',
    'this mailbox has been closed during 2025',
    'The address may be invalid or no longer in use: no such user',
    'the mailbox may be invalid; user unknown',
    'Recipient could be wrong, user unknown',
    'no such user: please verify if the address is correct',
    'User unknown, check whether the address is right',
    'The address may be wrong: mailbox not found',
    'Cannot tell if it ever existed: unknown recipient joe@x.test',
    'address may be invalid: host not found',
  ])('%s', (text) => expect(suppressesAddress(refusal(text))).toBe(true));
});

describe('what a refusal is not sure of, what is so at times, and an unknown sender suppress nothing', () => {
  test.each([
    'mailbox is closed from 18:00 to 08:00',
    'mailbox is closed from 6 pm to 8 am',
    'mailbox is closed from 24 Dec to 2 Jan',
    'mailbox is closed from 24 Dec 2026 until 2 Jan 2027',
    'mailbox is closed from 9 am daily',
    'mailbox is closed during 12-hour backups',
    'mailbox is closed until 5 May',
    'account closed at weekends',
    'The recipient may be invalid: timeout',
    'The recipient may be invalid or the server has no such record',
    'It is not known whether the user exists',
    'Unable to verify whether the user exists: no such table',
    'Unable to determine if no such user or a timeout',
    'Unable to check whether user unknown',
    'User may be unknown or mailbox full',
    'SMTP AUTH: no such user',
    'auth failed: unknown user',
  ])('%s', (text) => expect(suppressesAddress(refusal(text))).toBe(false));
});
