import { expect, test } from 'vitest';
import { isOwnPage, isOwnPageOrProgram } from '../../../gateway/admission/session-admission.ts';

const ask = (origin: string, host: string) => ({ method: 'POST', headers: { origin, host } });

test('where PUBLIC_URL is https, a page over plain HTTP of the same host is another page', () => {
  const publicUrl = 'https://mail.example.com';
  const forged = ask('http://mail.example.com', 'mail.example.com');
  expect([isOwnPage(forged, publicUrl), isOwnPageOrProgram(forged, publicUrl)]).toEqual([false, false]);
  for (const own of [
    ask('https://mail.example.com', 'mail.example.com'),
    // As reached by another name that is ours (own-host.test.ts), and behind a proxy that does not pass the name on.
    ask('https://192.0.2.1:3000', '192.0.2.1:3000'),
    ask('https://mail.example.com', '127.0.0.1:3000'),
  ])
    expect([own, isOwnPage(own, publicUrl), isOwnPageOrProgram(own, publicUrl)]).toEqual([own, true, true]);
});

test('where PUBLIC_URL is http, pages over both are ours', () => {
  for (const origin of ['http://mail.example.com', 'https://mail.example.com'])
    expect(isOwnPage(ask(origin, 'mail.example.com'), 'http://mail.example.com')).toBe(true);
});
