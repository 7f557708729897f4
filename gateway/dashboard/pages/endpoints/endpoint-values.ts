import type { ResultOf, VariablesOf } from '../../graphql.ts';
import type { ENDPOINT, UPDATE_EMAIL, UPDATE_GROUP, UPDATE_WEBHOOK } from './endpoint-documents.ts';

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
