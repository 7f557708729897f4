import type { ExperimentTests } from './fault-experiments.ts';

/** One security case of docs/testing.md: what an attacker tries, and the tests that show the outcome. */
export interface SecurityCase {
  id: string;
  attempt: string;
  expected: string;
  tests: readonly ExperimentTests[];
}

const files = (...names: string[]): ExperimentTests[] => names.map((name) => ({ file: `test/${name}` }));

export const securityCases: readonly SecurityCase[] = [
  {
    id: 'S1',
    attempt: 'Ids of another user in every path, field, filter and cursor',
    expected: 'The same response as for an unknown id, and nothing is changed.',
    tests: [
      ...files(
        'gateway/admission/isolation-sweep.attack.ts',
        'gateway/graphql/graphql-isolation.attack.ts',
        'gateway/admission/isolation.test.ts',
        'gateway/admission/key-domains.attack.ts',
      ),
      { file: 'test/flow/faults.attack.ts', name: 'after these faults a stranger is told nothing' },
    ],
  },
  {
    id: 'S2',
    attempt: 'Mail that refers to messages of another user, or has shared Message-IDs',
    expected: 'Threads of different users stay separate.',
    tests: files('core/threads/threading.test.ts', 'actors/threading/assign-thread.test.ts'),
  },
  {
    id: 'S3',
    attempt: 'Domains that another user verified, their subdomains, homographs and malformed names',
    expected: 'One verified owner for each name, and no inheritance.',
    tests: files(
      'core/domains/domain-name.test.ts',
      'gateway/rest/domains.test.ts',
      'actors/scheduling/check-domains.test.ts',
    ),
  },
  {
    id: 'S4',
    attempt: 'Endpoint URLs that lead to private networks, other ports or other protocols',
    expected: '400, whatever the spelling of the address.',
    tests: files('core/endpoints/webhook-url.test.ts', 'core/shared/network-address.test.ts'),
  },
  {
    id: 'S5',
    attempt: 'DNS rebinding, redirects and proxies when a webhook is sent',
    expected: 'No packet to a private address.',
    tests: files('actors/delivery/guard.test.ts'),
  },
  {
    id: 'S6',
    attempt: 'Reading internal responses through the test of an endpoint',
    expected: 'The same guard as for deliveries, a short response body and a rate limit.',
    tests: files('actors/delivery/test-endpoint.test.ts', 'gateway/rest/endpoint-test.test.ts'),
  },
  {
    id: 'S7',
    attempt: 'Custom webhook headers that replace ours or break the request',
    expected: '400.',
    tests: files('core/endpoints/endpoint-config.test.ts', 'actors/delivery/post-webhook.test.ts'),
  },
  {
    id: 'S8',
    attempt: 'Changed, old or forged webhooks',
    expected: 'The signature of the raw body, timestamp and id does not match.',
    tests: files('core/endpoints/webhook-signature.test.ts', 'docs/verify-webhook.test.ts'),
  },
  {
    id: 'S9',
    attempt: 'SMTP smuggling into the service: ambiguous ends of data',
    expected: 'Never a second message.',
    tests: files('haraka-plugins/smuggling.program.ts', 'haraka-plugins/data-reader.test.ts'),
  },
  {
    id: 'S10',
    attempt: 'SMTP smuggling out of the service: bare CR or LF, dots and long lines in sent mail',
    expected: 'One message in canonical form at the receiving server.',
    tests: files('flow/outgoing-hostile.program.ts', 'core/smtp/smtp-form.test.ts', 'core/mime/transfer-form.test.ts'),
  },
  {
    id: 'S11',
    attempt: 'Line breaks and control characters in every field of a sent email',
    expected: '400 or encoded. No extra header field and no extra recipient.',
    tests: files(
      'core/sending/outgoing-headers.test.ts',
      'core/sending/outgoing-addresses.test.ts',
      'gateway/rest/sending-refused.test.ts',
      'flow/outgoing-hostile.program.ts',
    ),
  },
  {
    id: 'S12',
    attempt: 'Attachments and bodies given as file paths or URLs',
    expected: '400. No file is read and no URL is fetched.',
    tests: files('core/sending/outgoing-attachments.test.ts', 'gateway/rest/sending-refused.test.ts'),
  },
  {
    id: 'S13',
    attempt: 'Use as an open relay, by SMTP or with a foreign From address',
    expected: '550 at RCPT, or 4xx from the API. No mail leaves.',
    tests: files('actors/receiving/check-recipient.test.ts', 'gateway/rest/sending-refused.test.ts'),
  },
  {
    id: 'S14',
    attempt: 'Backscatter and abuse of forwarding',
    expected: 'Refusals happen in the SMTP dialogue, and forwarding is limited.',
    tests: files('flow/forwarding.program.ts', 'core/endpoints/forward.test.ts', 'actors/delivery/forward.test.ts'),
  },
  {
    id: 'S15',
    attempt: 'Hostile attachment names and types',
    expected: 'Served as downloads under a safe name, and never looked up by path.',
    tests: files('core/mime/attachment.test.ts', 'gateway/rest/attachments.test.ts'),
  },
  {
    id: 'S16',
    attempt: 'Scripts, forms and remote content in HTML mail',
    expected: 'Nothing runs and nothing is fetched in a browser.',
    tests: files(
      'core/html/sanitize-html.test.ts',
      'core/html/sanitize-css.test.ts',
      'core/html/mail-document.test.ts',
      'dashboard/hostile-mail.browser.ts',
      'dashboard/newsletters.browser.ts',
    ),
  },
  {
    id: 'S17',
    attempt: 'Expensive or malformed GraphQL documents, batches, introspection and CSRF',
    expected: '400 before any work is done.',
    tests: files('gateway/graphql/graphql-safety.test.ts', 'gateway/graphql/graphql.test.ts'),
  },
  {
    id: 'S18',
    attempt: 'JSON and HTTP bombs: deep, large, compressed or slow bodies',
    expected: '400, 408, 413 or 431 with flat memory.',
    tests: files('gateway/http/bounds.test.ts', 'gateway/admission/bodies-in-flight.test.ts'),
  },
  {
    id: 'S19',
    attempt: 'Prototype pollution through header, parameter and JSON names',
    expected: 'Kept as plain data. No global object changes.',
    tests: files('core/mime/header-fields.test.ts', 'core/mime/parse-message.test.ts'),
  },
  {
    id: 'S20',
    attempt: 'Inputs that make regular expressions or searches slow',
    expected: 'Time in proportion to the length of the input.',
    tests: files(
      'core/mime/extracts.test.ts',
      'core/mime/subject.test.ts',
      'core/mime/reply-text.test.ts',
      'core/mime/reply-html.test.ts',
      'core/search/search-query.test.ts',
    ),
  },
  {
    id: 'S21',
    attempt: 'SQL and NATS subjects in ids, filters and sort orders',
    expected: 'Parameters only. 400 or 404.',
    tests: files('gateway/admission/isolation-sweep.attack.ts', 'deploy/nats-permissions.test.ts'),
  },
  {
    id: 'S22',
    attempt: 'Stolen, guessed, revoked or limited API keys',
    expected: '401 or 403 everywhere within 5 s, and only hashes are stored.',
    tests: files(
      'gateway/admission/admission.test.ts',
      'gateway/admission/key-scopes.attack.ts',
      'gateway/admission/key-scopes-graphql.attack.ts',
      'gateway/admission/key-streams.test.ts',
    ),
  },
  {
    id: 'S23',
    attempt: 'Session theft, fixation, CSRF and guessed passwords',
    expected: 'Flagged cookies, a new id after each sign-in, origin checks and limited attempts.',
    tests: files(
      'gateway/accounts/auth-sessions.test.ts',
      'gateway/accounts/auth-origin.test.ts',
      'gateway/accounts/auth-attempts.test.ts',
      'gateway/admission/cross-origin.test.ts',
    ),
  },
  {
    id: 'S24',
    attempt: 'Secrets in logs',
    expected: 'No secret of any test in any log of the run. `npm test` searches all logs at its end.',
    tests: files('support/leaks.test.ts'),
  },
  {
    id: 'S25',
    attempt: 'More requests than the limit, over several keys and gateways',
    expected: '429 with Retry-After, for each user.',
    tests: files(
      'gateway/admission/request-limit.test.ts',
      'flow/request-limit.program.ts',
      'haraka-plugins/limits.program.ts',
    ),
  },
  {
    id: 'S26',
    attempt: 'An Idempotency-Key that is used again, in parallel or with another body',
    expected: 'One email and the same response, or 409.',
    tests: [
      ...files('gateway/rest/idempotency.test.ts'),
      { file: 'test/flow/sending-faults.attack.ts', name: 'an Idempotency-Key makes one email' },
    ],
  },
  {
    id: 'S27',
    attempt: 'Spoofed senders and forged Authentication-Results',
    expected: 'The verdict is stored with the message.',
    tests: files('actors/receiving/authenticate-message.test.ts'),
  },
  {
    id: 'S28',
    attempt: 'Vulnerable or changed dependencies',
    expected: 'Exact pins, and a checksum for each package. Known holes are shown by `npm audit`, which is not a test.',
    tests: files('architecture.test.ts'),
  },
  {
    id: 'S29',
    attempt: 'Ports and permissions that are open to others',
    expected: 'Only SMTP and HTTP are public. NATS and PostgreSQL give each process its own permissions.',
    tests: files('bin/open-defaults.program.ts', 'deploy/nats-permissions.test.ts', 'flow/database-roles.program.ts'),
  },
];
