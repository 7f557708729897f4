import { expect, test } from 'vitest';
import { checkRecipient } from '../../../actors/receiving/check-recipient.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { recipientCheck } from '../../support/rows/sent-mail.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';

const gateway = openForFile(() => openTestGateway({ config: { trustedDomains: ['states.test'] } }));

test('a change of a domain and its addresses decides at once which mail is accepted', async () => {
  const box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await gateway.call(box.apiKey, method, path, body);
    expect(response.statusCode, `${method} ${path} ${response.body}`).toBeLessThan(300);
    return response.json();
  };
  /** The address that takes it, `catch-all`, or the reply of RCPT. */
  const readTaker = async (recipient: string) => {
    const check = await checkRecipient(recipientCheck(gateway.actor), recipient, '');
    if (check.verdict !== 'accept') return `${check.code} ${check.enhancedCode}`;
    return check.addressId ?? 'catch-all';
  };
  const { id: domainId } = await ask('POST', '/domains', { domain: 'states.test' });
  expect(await readTaker('a@states.test')).toBe('550 5.1.1');
  const { id } = await ask('POST', '/email-addresses', { address: 'A@states.test', domainId });
  expect([await readTaker('a@states.test'), await readTaker('a+tag@states.test')]).toEqual([id, id]);
  await ask('PATCH', `/email-addresses/${id}`, { isActive: false });
  expect(await readTaker('a@states.test')).toBe('550 5.1.1');

  await ask('PATCH', `/domains/${domainId}`, { isCatchAllEnabled: true, catchAllEndpointId: box.endpointId });
  expect([await readTaker('b@states.test'), await readTaker('a@states.test')]).toEqual(['catch-all', '550 5.1.1']);
  await ask('PATCH', `/email-addresses/${id}`, { isActive: true });
  expect(await readTaker('a@states.test')).toBe(id);
  await ask('DELETE', `/email-addresses/${id}`);
  expect(await readTaker('a@states.test')).toBe('catch-all');
  await ask('PATCH', `/domains/${domainId}`, { isCatchAllEnabled: false });
  expect(await readTaker('b@states.test')).toBe('550 5.1.1');
  await ask('DELETE', `/domains/${domainId}`);
  expect(await readTaker('a@states.test')).toBe('550 5.7.1');
});
