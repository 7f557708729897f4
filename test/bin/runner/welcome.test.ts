import { expect, test } from 'vitest';
import { welcome } from '../../../bin/runner/welcome.ts';

const facts = {
  smtpAddress: '127.0.0.1:2525',
  submission: { startTls: null, tls: null },
  certificateFile: null,
  publicUrl: 'http://localhost:3000',
  data: '/srv/data',
  firstAccount: null,
  hasAccounts: true,
  isSignUpOpen: true,
  secretsFile: null,
};

test('the start lists the ports of submission, and the certificate that its clients must trust', () => {
  const text = welcome({
    ...facts,
    submission: { startTls: 2587, tls: 2465 },
    certificateFile: '/srv/data/smtp-tls-localhost.crt',
  });
  expect(text).toContain('SMTP      127.0.0.1:2525');
  expect(text).toContain('Submit    port 2587 (STARTTLS), 2465 (TLS), with an API key as the password');
  expect(text).toContain('clients must trust /srv/data/smtp-tls-localhost.crt');
});

test('the start says which setting turns submission on, and names no certificate of a public authority', () => {
  expect(welcome(facts)).toContain('Submit    off; SUBMISSION_PORT=2587');
  const own = welcome({ ...facts, submission: { startTls: 587, tls: null } });
  expect(own).toContain('port 587 (STARTTLS)');
  expect(own).not.toContain('clients must trust');
});
