import type { Endpoint } from './endpoint-documents.ts';
import type { formats } from './endpoint-words.ts';
import type { EndpointChanges } from './use-endpoint-update.ts';

/** Values of the fields that choose the events of a webhook and their order. */
export interface SubscriptionValues {
  events: string[];
  /** none: all */
  filterDomains: string[];
  filterAddresses: string[];
  ordering: 'NONE' | 'THREAD' | 'SENDER';
}

/** Values of the settings form for all types. Fields of other types are hidden. */
export interface EndpointValues extends SubscriptionValues {
  name: string;
  description: string;
  url: string;
  format: keyof typeof formats;
  payload: 'NESTED' | 'FLAT';
  attachments: 'CONTENT' | 'LINK';
  timeoutSeconds: number;
  retryAttempts: number;
  /** one header per line, as `Name: value` */
  headers: string;
  /** empty: the default payload */
  payloadQuery: string;
  allowActions: boolean;
  forwardTo: string;
  addresses: string[];
  subjectPrefix: string;
  senderName: string;
  preserveHeaders: boolean;
  includeAttachments: boolean;
}

/** Returns the initial values of the form. */
export function valuesOf(endpoint: Endpoint): EndpointValues {
  const isWebhook = endpoint.__typename === 'WebhookEndpoint';
  return {
    name: endpoint.name,
    description: endpoint.description ?? '',
    url: isWebhook ? endpoint.url : '',
    format: isWebhook ? endpoint.format : 'NATIVE',
    payload: isWebhook ? endpoint.payload : 'NESTED',
    attachments: isWebhook ? endpoint.attachments : 'CONTENT',
    timeoutSeconds: isWebhook ? endpoint.timeoutSeconds : 0,
    retryAttempts: isWebhook ? endpoint.retryAttempts : 0,
    headers: isWebhook ? endpoint.headers.map(({ name, value }) => `${name}: ${value}`).join('\n') : '',
    events: isWebhook ? [...endpoint.events] : [],
    filterDomains: isWebhook ? [...(endpoint.filter?.domains ?? [])] : [],
    filterAddresses: isWebhook ? [...(endpoint.filter?.addresses ?? [])] : [],
    payloadQuery: isWebhook ? (endpoint.payloadQuery ?? '') : '',
    ordering: isWebhook ? endpoint.ordering : 'NONE',
    allowActions: isWebhook ? endpoint.allowActions : false,
    forwardTo: endpoint.__typename === 'EmailEndpoint' ? endpoint.forwardTo : '',
    addresses: endpoint.__typename === 'EmailGroupEndpoint' ? [...endpoint.addresses] : [],
    subjectPrefix: isWebhook ? '' : (endpoint.subjectPrefix ?? ''),
    senderName: isWebhook ? '' : (endpoint.senderName ?? ''),
    preserveHeaders: isWebhook ? false : endpoint.preserveHeaders,
    includeAttachments: isWebhook ? true : endpoint.includeAttachments,
  };
}

/** Returns the mutation input for the values. */
export function changesOf(endpoint: Endpoint, values: EndpointValues): EndpointChanges {
  const { name, url, format, payload, attachments, timeoutSeconds, retryAttempts } = values;
  const about = { id: endpoint.id, name, description: values.description };
  if (endpoint.__typename === 'WebhookEndpoint') {
    const headers = values.headers
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const at = line.indexOf(':');
        return {
          name: line.slice(0, at === -1 ? line.length : at).trim(),
          value: at === -1 ? '' : line.slice(at + 1).trim(),
        };
      });
    return {
      ...about,
      url,
      format,
      payload,
      attachments,
      timeoutSeconds,
      retryAttempts,
      headers,
      ...subscriptionOf(values),
      payloadQuery: values.payloadQuery || null,
      allowActions: values.allowActions,
    };
  }
  const { subjectPrefix, senderName, preserveHeaders, includeAttachments } = values;
  const forward = {
    subjectPrefix: subjectPrefix || null,
    senderName: senderName || null,
    preserveHeaders,
    includeAttachments,
  };
  return endpoint.__typename === 'EmailEndpoint'
    ? { ...about, ...forward, forwardTo: values.forwardTo }
    : { ...about, ...forward, addresses: values.addresses };
}

/** Returns the part of the mutation input that chooses events and their order. */
export function subscriptionOf({ events, filterDomains, filterAddresses, ordering }: SubscriptionValues) {
  const isFiltered = filterDomains.length + filterAddresses.length > 0;
  return { events, filter: isFiltered ? { domains: filterDomains, addresses: filterAddresses } : null, ordering };
}
