import type { KeyScope } from './key-scopes.ts';

/** What a request to try a key out needs to know. */
export interface FirstRequest {
  publicUrl: string;
  secret: string;
  /** null: full rights */
  scopes: readonly KeyScope[] | null;
  /** from whose address an email can be sent; null: from none yet */
  sendsFrom: string | null;
  sendsTo: string;
}

/** A command for a shell that the key is good for, and what it does. It changes nothing, unless the key can do nothing but send. */
export function firstRequest({ publicUrl, secret, scopes, sendsFrom, sendsTo }: FirstRequest): {
  about: string;
  command: string;
} {
  const base = publicUrl.replace(/\/$/, '');
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
