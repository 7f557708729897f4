import { expect } from 'vitest';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import type { TestMailbox } from '../rows/routing-rows.ts';
import type { ExhaustionStage } from './exhaustion-stage.ts';

/** Signs the account in, and returns its cookie, and the header line with it. */
export async function signIn(
  { owner, gateway }: ExhaustionStage,
  { workspaceId }: TestMailbox,
): Promise<{ cookie: string; headers: string }> {
  const token = await makeSignInLink(owner, `${workspaceId}@account.test`);
  const response = await fetch(`${gateway.url}/api/auth/sign-in/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: `http://localhost:${gateway.port}` },
    body: JSON.stringify({ token }),
  });
  expect(response.status, await response.clone().text()).toBe(200);
  const cookie = response.headers
    .getSetCookie()
    .map((field) => field.split(';')[0])
    .join('; ');
  return { cookie, headers: `Cookie: ${cookie}\r\n` };
}
