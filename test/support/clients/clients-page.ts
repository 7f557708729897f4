import type { OpenAPIV3_1 } from 'openapi-types';
import { type Decision, decideMethods } from './client-table.ts';
import type { RecordedClient } from './published-clients.ts';
import type { ClientMethod } from './record-client.ts';

const HEAD = `# Published clients

These packages work with Postroom without a change of their code, as far as the tables say: they list every method of these versions.
\`npm run clients\` calls all methods, notes what each sends, and writes this page. \`npm test\` fails when a version has a method that is
neither served nor refused with what to use instead.

A method that is not served gets status 501 with the name \`not_implemented\`, and the text of the table as its \`message\`.
\`test/clients/response-types.program.ts\` calls the served methods of the JavaScript packages and checks each response against the package's types.

`;

const BEYOND = `## What Postroom does that these packages have no method for

- **The body is in the webhook.** \`email.received\` has the text, the HTML, the headers and links to the attachments. The type of this
  event in \`resend\` has the subject, the addresses and the names of attachments; the body takes another request.
- **A batch takes attachments.** The type of \`batch.send\` in \`resend\` leaves \`attachments\` out.
- **Threads of all mail**, received and sent, at all addresses: \`GET /mail/threads\`, with [search](search.md), labels, [claims](claims.md), merge and split.
- **[Approvals](approvals.md)** by a person before an email leaves, and [send policies](send-policy.md) of keys.
- **Replay of deliveries** of a whole endpoint over a span of time: \`POST /endpoints/{id}/replay\`. \`resend\` replays one event.

[Operations by interface](parity.md) lists everything else.
`;

/** Returns docs/clients.md. */
export function writeClientsPage(clients: readonly RecordedClient[], document: OpenAPIV3_1.Document): string {
  const decide = decideMethods(document);
  const sections = clients.map(({ name, title, version, setting, methods }) => {
    const decided = methods.map((method) => ({ method, decision: decide(name, method) }));
    const count = (is: Decision['is']) => decided.filter(({ decision }) => decision.is === is).length;
    const served = rows(decided, ({ decision }) =>
      decision.is === 'served'
        ? [decision.routes.map((name) => `\`${name}\``).join(', '), decision.difference ?? '']
        : null,
    );
    const unserved = rows(decided, ({ decision }) => (decision.is === 'not served' ? [decision.instead] : null));
    const undecided = rows(decided, ({ decision }) => (decision.is === 'undecided' ? ['undecided'] : null));
    return [
      `## ${title}\n`,
      `Version ${version}: ${count('served')} of ${methods.length} methods are served. ${setting}\n`,
      '| Method | Request | Difference |\n|---|---|---|',
      ...served.map(({ names, cells: [request, difference] }) => `| ${names} | ${request} | ${difference} |`),
      ...(unserved.length === 0 ? [] : ['\n| Not served | Use instead |\n|---|---|']),
      ...unserved.map(({ names, cells: [instead] }) => `| ${names} | ${instead} |`),
      ...undecided.map(({ names }) => `| ${names} | undecided |`),
      '',
    ].join('\n');
  });
  return `${HEAD}${sections.join('\n')}\n${BEYOND}`;
}

interface Decided {
  method: ClientMethod;
  decision: Decision;
}

/** Returns one row for all methods with the same cells; null leaves a method out. */
function rows(
  decided: readonly Decided[],
  read: (each: Decided) => string[] | null,
): { names: string; cells: string[] }[] {
  const found = new Map<string, { names: string[]; cells: string[] }>();
  for (const each of decided) {
    const cells = read(each);
    if (cells === null) continue;
    const row = found.get(cells.join('|')) ?? { names: [], cells };
    row.names.push(`\`${each.method.name}\``);
    found.set(cells.join('|'), row);
  }
  return [...found.values()].map(({ names, cells }) => ({ names: names.join(', '), cells }));
}
