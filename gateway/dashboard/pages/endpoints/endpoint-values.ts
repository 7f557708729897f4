import { mutation, type ResultOf, record, type VariablesOf } from '../../graphql.ts';
import { counted, formatCount } from '../../parts/words.ts';

/** One endpoint with its settings and its health. */
export const ENDPOINT = record(`endpoint {
  __typename id name description isActive inactiveReason createdAt
  stats { total successful failed lastDeliveryAt }
  emailAddresses(first: 20) { totalCount edges { node { id address } } }
  catchAllDomains { id name }
  ... on WebhookEndpoint {
    url format payload attachments timeoutSeconds retryAttempts maxPayloadOctets signatureScheme
    headers { name value }
    events
    filter { domains addresses }
    payloadQuery ordering allowActions verificationToken
    signingSecrets { secret validUntil }
  }
  ... on EmailEndpoint { forwardTo preserveHeaders includeAttachments subjectPrefix senderName fromAddress }
  ... on EmailGroupEndpoint { addresses preserveHeaders includeAttachments subjectPrefix senderName fromAddress }
}`);

/** Changes a webhook. Absent fields stay unchanged. */
export const UPDATE_WEBHOOK = mutation('updateWebhookEndpoint', 'endpoint { __typename id isActive }');

/** Changes an endpoint that forwards to one address. */
export const UPDATE_EMAIL = mutation('updateEmailEndpoint', 'endpoint { __typename id isActive }');

/** Changes an endpoint that forwards to a group. */
export const UPDATE_GROUP = mutation('updateEmailGroupEndpoint', 'endpoint { __typename id isActive }');

/** Display names and descriptions of the endpoint types. */
export const ENDPOINT_TYPES = {
  WebhookEndpoint: {
    label: 'Webhook',
    about: 'Posts each email to your URL as signed JSON, or as a message to a chat room.',
  },
  EmailEndpoint: { label: 'One address', about: 'Forwards each email to one address.' },
  EmailGroupEndpoint: { label: 'Group', about: 'Forwards each email to several addresses.' },
} as const;

/** Display names of the webhook formats. */
export const FORMATS = { NATIVE: 'Postroom JSON', CHAT_A: 'Discord message', CHAT_B: 'Slack message' } as const;
export const FORMAT_CHOICES = Object.entries(FORMATS).map(([value, label]) => ({ value, label }));

type Stats = Record<'total' | 'successful' | 'failed', number>;

/** Returns the state of an endpoint in a word, and its color. */
export function describeHealth({ isActive, stats: { total, failed } }: { isActive: boolean; stats: Stats }) {
  if (!isActive) return { status: 'Off', tone: 'quiet' } as const;
  if (total === 0) return { status: 'No deliveries yet', tone: 'waiting' } as const;
  if (failed === 0) return { status: 'Healthy', tone: 'good' } as const;
  return failed === total
    ? ({ status: 'Failing', tone: 'bad' } as const)
    : ({ status: 'Some fail', tone: 'warning' } as const);
}

/** Returns for example "98 delivered, 2 failed attempts": a delivery can fail several times before it succeeds. */
export function describeStats({ total, successful, failed }: Stats): string {
  if (total === 0) return 'no deliveries yet';
  const waiting = total - successful - failed;
  return [`${formatCount(successful)} delivered`, counted(failed, 'failed attempt')]
    .concat(waiting > 0 ? [`${formatCount(waiting)} pending`] : [])
    .join(', ');
}

/** Returns the URL or the addresses of an endpoint. */
export function describeTarget(
  endpoint:
    | { __typename: 'WebhookEndpoint'; url: string }
    | { __typename: 'EmailEndpoint'; forwardTo: string }
    | { __typename: 'EmailGroupEndpoint'; addresses: readonly string[] },
): string {
  if (endpoint.__typename === 'WebhookEndpoint') return endpoint.url;
  return endpoint.__typename === 'EmailEndpoint' ? endpoint.forwardTo : endpoint.addresses.join(', ');
}

/** An endpoint with its settings. */
export type Endpoint = NonNullable<ResultOf<typeof ENDPOINT>['endpoint']>;
export type Webhook = Extract<Endpoint, { __typename: 'WebhookEndpoint' }>;

/** Fields that the type may have; the service rejects what does not fit. */
export type EndpointChanges = VariablesOf<typeof UPDATE_WEBHOOK>['input'] &
  VariablesOf<typeof UPDATE_EMAIL>['input'] &
  VariablesOf<typeof UPDATE_GROUP>['input'];

/** What a new webhook gets: the events, the domains and addresses that they must be about (none: all), and their order. */
export const NEW_SUBSCRIPTION = {
  events: ['email.received'],
  filterDomains: [] as string[],
  filterAddresses: [] as string[],
  ordering: 'NONE' as Webhook['ordering'],
};

/** Values of the settings form for all types. Fields of other types are hidden. */
export type EndpointValues = ReturnType<typeof readValues>;

/** Returns the initial values of the form. */
export function readValues(endpoint: Endpoint) {
  const webhook = endpoint.__typename === 'WebhookEndpoint' ? endpoint : null;
  const forwarding = endpoint.__typename === 'WebhookEndpoint' ? null : endpoint;
  return {
    name: endpoint.name,
    description: endpoint.description ?? '',
    url: webhook?.url ?? '',
    format: webhook?.format ?? 'NATIVE',
    payload: webhook?.payload ?? 'NESTED',
    attachments: webhook?.attachments ?? 'CONTENT',
    timeoutSeconds: webhook?.timeoutSeconds ?? 0,
    retryAttempts: webhook?.retryAttempts ?? 0,
    /** one header per line, as `Name: value` */
    headers: webhook?.headers.map(({ name, value }) => `${name}: ${value}`).join('\n') ?? '',
    events: [...(webhook?.events ?? [])],
    filterDomains: [...(webhook?.filter?.domains ?? [])],
    filterAddresses: [...(webhook?.filter?.addresses ?? [])],
    /** empty: the default payload */
    payloadQuery: webhook?.payloadQuery ?? '',
    ordering: webhook?.ordering ?? 'NONE',
    allowActions: webhook?.allowActions ?? false,
    forwardTo: endpoint.__typename === 'EmailEndpoint' ? endpoint.forwardTo : '',
    addresses: endpoint.__typename === 'EmailGroupEndpoint' ? [...endpoint.addresses] : [],
    subjectPrefix: forwarding?.subjectPrefix ?? '',
    senderName: forwarding?.senderName ?? '',
    preserveHeaders: forwarding?.preserveHeaders ?? false,
    includeAttachments: forwarding?.includeAttachments ?? true,
  };
}

/** Returns the mutation input for the values. */
export function writeChanges(endpoint: Endpoint, values: EndpointValues): EndpointChanges {
  const { name, description, url, format, payload, attachments, timeoutSeconds, retryAttempts } = values;
  const about = { id: endpoint.id, name, description };
  if (endpoint.__typename === 'WebhookEndpoint')
    return {
      ...about,
      url,
      format,
      payload,
      attachments,
      timeoutSeconds,
      retryAttempts,
      headers: readHeaders(values.headers),
      ...writeSubscription(values),
      payloadQuery: values.payloadQuery || null,
      allowActions: values.allowActions,
    };
  const { subjectPrefix, senderName, preserveHeaders, includeAttachments, forwardTo, addresses } = values;
  const forward = {
    subjectPrefix: subjectPrefix || null,
    senderName: senderName || null,
    preserveHeaders,
    includeAttachments,
  };
  return endpoint.__typename === 'EmailEndpoint'
    ? { ...about, ...forward, forwardTo }
    : { ...about, ...forward, addresses };
}

function readHeaders(text: string): { name: string; value: string }[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.split(':');
      return { name: name.trim(), value: rest.join(':').trim() };
    });
}

/** Returns the part of the mutation input that chooses events and their order. */
export function writeSubscription({ events, filterDomains, filterAddresses, ordering }: typeof NEW_SUBSCRIPTION) {
  const isFiltered = filterDomains.length + filterAddresses.length > 0;
  return { events, filter: isFiltered ? { domains: filterDomains, addresses: filterAddresses } : null, ordering };
}
