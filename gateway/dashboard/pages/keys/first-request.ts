import { baseUrl } from '../../shell/viewer.ts';
import type { KeyScope } from './key-scopes.ts';

/** What the sample request for a key depends on. */
export interface FirstRequest {
  publicUrl: string;
  secret: string;
  /** null: full access */
  scopes: readonly KeyScope[] | null;
  /** an address that can send; null if there is none yet */
  sendsFrom: string | null;
  sendsTo: string;
}

/** Returns a shell command that the key can run, and its description. It changes nothing, unless the key can only send. */
export function firstRequest({ publicUrl, secret, scopes, sendsFrom, sendsTo }: FirstRequest): {
  about: string;
  command: string;
} {
  const base = baseUrl({ publicUrl });
  const bearer = `-H 'Authorization: Bearer ${secret}'`;
  const json = "-H 'Content-Type: application/json'";
  if (scopes === null || scopes.includes('READ'))
    return { about: 'Lists the newest emails:', command: `curl ${bearer} \\\n  '${base}/api/e2/emails?limit=3'` };
  if (scopes.includes('SEND') && sendsFrom !== null) {
    const email = { from: sendsFrom, to: sendsTo, subject: 'Hello', text: 'Sent by a new API key.' };
    return {
      about: `Sends an email from ${sendsFrom} to ${sendsTo}:`,
      command: `curl ${bearer} ${json} \\\n  -d '${JSON.stringify(email).replaceAll("'", "'\\''")}' \\\n  ${base}/api/e2/emails`,
    };
  }
  return {
    about: 'Checks the key with a GraphQL request:',
    command: `curl ${bearer} ${json} \\\n  -d '{"query":"{ __typename }"}' ${base}/graphql`,
  };
}
