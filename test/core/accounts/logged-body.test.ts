import { describe, expect, test } from 'vitest';
import { loggedBody, shortenBody } from '../../../core/accounts/logged-body.ts';
import { loggedPath, loggedRequestHeaders } from '../../../core/accounts/logged-request.ts';
import { writeCurl } from '../../../core/accounts/request-curl.ts';

const logged = (body: unknown): unknown => JSON.parse(loggedBody(JSON.stringify(body)));

describe('a logged body', () => {
  test('keeps no value of a field with the name of a secret, and all others', () => {
    const kept = {
      id: 'key_1',
      apiKeyId: 'key_2',
      tokens: 3,
      hasSecret: true,
      next_cursor: 'abc',
      text: 'my token: a',
    };
    const secret = 'a "quoted\\" {secret}\\';
    const names = ['token', 'secret', 'claimToken', 'newPassword', 'webhook_secret', 'Authorization', 'X-Api-Key'];
    const given = { ...kept, nested: [Object.fromEntries(names.map((name) => [name, secret]))] };
    const redacted = Object.fromEntries(names.map((name) => [name, '[redacted]']));
    expect(logged(given)).toEqual({ ...kept, nested: [redacted] });
  });

  test('keeps none in JSON within JSON, in GraphQL documents, in URLs and in texts', () => {
    const inner = JSON.stringify({ secret: 'one "two" three', id: 'x', content: 'VHdvIHBlYXJz' });
    expect(logged({ text: inner, headers: [{ name: 'X-Api-Key', value: 'four' }] })).toEqual({
      text: JSON.stringify({ secret: '[redacted]', id: 'x', content: '[9 bytes]' }),
      headers: [{ name: 'X-Api-Key', value: '[redacted]' }],
    });
    const query = 'mutation { a(input: { secret: "five", name: "b" }) { id } }';
    expect(logged({ query })).toEqual({ query: query.replace('five', '[redacted]') });
    expect(logged({ url: 'https://a.test/x?signature=abc&user=1', text: 'whsec_abc+/= Bearer abcdefgh1' })).toEqual({
      url: 'https://a.test/x?signature=[redacted]&user=1',
      text: '[redacted] Bearer [redacted]',
    });
    const urls = [
      'https://hooks.slack.com/services/T/B/x',
      'https://discord.com/api/webhooks/1/y',
      'https://a:b@c.test/d',
    ];
    expect(logged({ urls })).toEqual({
      urls: ['https://hooks.slack.com/[redacted]', 'https://discord.com/[redacted]', 'https://[redacted]@c.test/d'],
    });
  });

  test('of up to 8,192 characters is whole; in a longer one texts are cut, and files replaced by their size', () => {
    const whole = { text: 'x'.repeat(8_000) };
    expect(logged(whole)).toEqual(whole);
    const content = Buffer.alloc(1_000_000, 'a').toString('base64');
    const files = [{ content, filename: 'a' }, { content: `data:text/plain;base64,${content}` }];
    const long = { text: `"${'\\'.repeat(3_000)}"`, attachments: files };
    const short = logged(long) as typeof long;
    expect(short.text).toMatch(/^"\\{999}… \[6,004 characters\]$/);
    expect(short.attachments).toEqual([
      { content: '[1,000,000 bytes]', filename: 'a' },
      { content: '[1,000,000 bytes]' },
    ]);
  });

  test('that cannot be shortened to valid JSON, or is none, ends within the limit', () => {
    const many = JSON.stringify(Array.from({ length: 5_000 }, (_, at) => ({ token: `secret-${at}` })));
    for (const body of [many, '"'.repeat(20_000), `"${'\\"'.repeat(20_000)}`, 'a'.repeat(20_000), '{"token":"secret-1'])
      expect([loggedBody(body).length <= 8_192, loggedBody(body).includes('secret-')]).toEqual([true, false]);
    expect(shortenBody('a'.repeat(20_000))).toHaveLength(8_192);
    expect(loggedBody('a\0\ud800')).toBe('a\ufffd\ufffd');
  });
});

test('a path is logged without secrets, and of headers those that hold none', () => {
  expect(loggedPath('/a?user=1&signature=abc&b=2')).toBe('/a?user=1&signature=[redacted]&b=2');
  const headers = { authorization: 'Bearer a', cookie: 'a=b', 'x-api-key': 'c', 'user-agent': 'test/1' };
  expect(loggedRequestHeaders(headers)).toEqual({ 'user-agent': 'test/1' });
});

test('a command quotes what a shell would read', () => {
  const request = { method: 'GET', path: "/a?b='$(c)", requestHeaders: { 'content-type': "'x" }, requestBody: null };
  const lines = [
    `curl 'http://p.test/a?b='\\''$(c)'`,
    '-H "Authorization: Bearer $POSTROOM_KEY"',
    `-H 'Content-Type: '\\''x'`,
  ];
  expect(writeCurl(request, 'http://p.test')).toBe(lines.join(' \\\n  '));
});
