import type { OpenAPIV3_1 } from 'openapi-types';
import { INSTEAD_OF_ROUTES } from '../../../gateway/rest/unserved-routes.ts';
import type { ClientMethod } from './record-client.ts';

/** What Postroom does with the requests of a method. */
export type Decision =
  | { is: 'served'; routes: readonly string[]; difference: string | null }
  | { is: 'not served'; instead: string }
  /** neither served nor refused with what to use instead */
  | { is: 'undecided' };

const ATTACHMENTS = '`path` of an attachment is 400: send the file in `content`.';

const VERIFY =
  'Verifies the webhooks of Postroom. Those of `webhooks.create` have the body of the types; that of other endpoints is in [endpoints](endpoints.md).';

const DOMAINS = 'Tracking, `tls` and `capabilities` have no effect, as `warnings` says.';

/** How the result of a request differs from what the client’s own service does. `resend` names a request of that client alone. */
const differences: Readonly<Record<string, string>> = {
  'POST /emails': ATTACHMENTS,
  'resend POST /emails': `${ATTACHMENTS} \`template\` and \`topicId\` are ignored, with a warning; \`html\` or \`text\` is required.`,
  'resend POST /emails/batch': `Emails may have attachments. ${ATTACHMENTS}`,
  'POST /emails/{id}/reply': `${ATTACHMENTS} \`simple\` has no effect.`,
  'POST /mail': ATTACHMENTS,
  'POST /emails/schedule': ATTACHMENTS,
  'resend POST /domains': `\`region\` is ignored, and \`us-east-1\` in responses. The DNS records are those of your Postroom. ${DOMAINS}`,
  'resend PATCH /domains/{id}': DOMAINS,
  'GET /emails/receiving/{id}': '`raw.download_url` works for an hour.',
  'resend GET /events': 'Lists the events of the account. There are no definitions of custom events.',
  'POST /webhooks':
    'Kinds of events that never happen here, such as `email.opened`, are left out. `email.received` is posted for all received mail.',
  'POST /webhooks/{webhookId}/events/{eventId}/replay':
    'Repeats what has not succeeded; a delivery that succeeded is 400.',
  'GET /logs': 'Requests of the last 7 days.',
  'GET /logs/{id}': 'Bodies of requests are shortened, and secrets in them redacted.',
  'GET /attachments/{id}/{filename}': 'Returns the bytes; read them with `.asResponse()`.',
  'POST /endpoints/{id}/test': 'Webhooks get a signed test event; for email endpoints nothing is sent.',
};

/** Differences of single methods, and methods that work without the server. */
const methodDifferences: Readonly<Record<string, string>> = {
  'webhooks.verify': VERIFY,
  'Webhooks.verify': VERIFY,
  setupDomain:
    'Its endpoint is 400: it sends a timeout of 30000, and the limit is 300 seconds. Call `endpoints.create`.',
};

interface Route {
  name: string;
  pattern: RegExp;
  /** number of segments that stand for anything */
  open: number;
  instead: string | null;
}

/** Returns what decides about a method of a client, from the served operations and the table of those that are not served. */
export function decideMethods(document: OpenAPIV3_1.Document): (client: string, method: ClientMethod) => Decision {
  const served = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.keys(item ?? {}).map((verb) => readRoute(`${verb.toUpperCase()} ${path.replace('/api/e2', '')}`, null)),
  );
  const unserved = [...INSTEAD_OF_ROUTES].map(([name, instead]) => readRoute(name, instead));
  const routes = [...served, ...unserved].toSorted((a, b) => a.open - b.open);
  return (client, { name, requests }) => {
    const found = requests.map((request) => routes.find(({ pattern }) => pattern.test(request)));
    if (found.includes(undefined)) return { is: 'undecided' };
    const refused = found.find((route) => route?.instead != null);
    if (refused?.instead != null) return { is: 'not served', instead: refused.instead };
    const texts = found.flatMap((route) => [differences[`${client} ${route?.name}`] ?? differences[route?.name ?? '']]);
    const names = found.flatMap((route) => route?.name ?? []);
    return {
      is: 'served',
      routes: names,
      difference: methodDifferences[name] ?? texts.find((text) => text !== undefined) ?? null,
    };
  };
}

function readRoute(name: string, instead: string | null): Route {
  const segments = name.split(/(?=\/)/);
  const isOpen = (segment: string) => /^\/(?::|\{|\*)/.test(segment);
  const pattern = segments.map((segment) =>
    segment === '/*' ? '/.+' : isOpen(segment) ? '/[^/]+' : segment.replaceAll(/[.?+()[\]\\]/g, '\\$&'),
  );
  const open = segments.filter(isOpen).length + (name.endsWith('*') ? 100 : 0);
  return { name, pattern: new RegExp(`^${pattern.join('')}$`), open, instead };
}
