// An example: tests of an application that sends codes and links. They run in parallel, each with a mailbox of its own.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTransport } from 'nodemailer';
import { openMailbox } from './mail-codes.mjs';

const {
  BASE: url = 'http://localhost:3000',
  CI_KEY: key,
  SMTP = 'smtp://127.0.0.1:2525?ignoreTLS=true',
  DOMAIN: domain,
  ADDRESS: address,
} = process.env;
const newMailbox = () => openMailbox({ url, key, ...(domain === undefined ? { address } : { domain }) });

// Stands for your application, which sends its mail to the SMTP port of Postroom.
const transport = createTransport(SMTP);
const from = 'Shop <no-reply@shop.example>';
const signUp = (to, code) => transport.sendMail({ from, to, subject: 'Your code', text: `Your code is ${code}.` });
const forget = (to, token) =>
  transport.sendMail({ from, to, subject: 'Reset', html: `<a href="https://shop.example/reset?t=${token}">Reset</a>` });

describe('sign-up', { concurrency: true }, () => {
  for (const code of ['482913', '910355', '771045', '203948'])
    it(`mails the code ${code} to its own address`, async () => {
      const mailbox = newMailbox();
      await signUp(mailbox.address, code);
      assert.equal(await mailbox.code(), code);
    });

  it('mails a new code when the first is lost', async () => {
    const mailbox = newMailbox();
    await signUp(mailbox.address, '111222');
    assert.equal(await mailbox.code(), '111222');
    await signUp(mailbox.address, '333444');
    assert.equal(await mailbox.code(), '333444');
  });

  it('mails a code and a link at once, which are read in any order', async () => {
    const mailbox = newMailbox();
    await Promise.all([signUp(mailbox.address, '555666'), forget(mailbox.address, 'k8')]);
    assert.equal(await mailbox.link({ subject: 'Reset' }), 'https://shop.example/reset?t=k8');
    assert.equal(await mailbox.code({ subject: 'Your code' }), '555666');
  });

  it('mails a link to set a new password', async () => {
    const mailbox = newMailbox();
    await forget(mailbox.address, 'k7');
    assert.equal(await mailbox.link({ subject: 'Reset' }), 'https://shop.example/reset?t=k7');
  });
});
