import type { OpenAPIV3_1 } from 'openapi-types';
import { capabilities } from '../../operations/capability/capabilities.ts';

/** An operation and its name in each interface. An interface without a name does not have it. */
interface OperationNames {
  feature: string;
  what: string;
  /** operation IDs of openapi.json */
  rest: readonly string[];
  /** fields of Query, Mutation and Subscription */
  graphql: readonly string[];
  /** names of MCP tools */
  mcp: readonly string[];
  /** how the interfaces differ; required where REST or GraphQL lacks the operation */
  difference?: string;
}

/** Names of REST, GraphQL and MCP, separated by spaces. */
type Row = readonly [what: string, rest?: string, graphql?: string, mcp?: string, difference?: string];

const CONNECTIONS = 'GraphQL reads it as a field of the objects it belongs to.';
const OTHER_CLIENTS = 'A path of another client; the operation itself is in another row.';

/** The rows in their order, with the operations that no capability declares; a test compares all rows with REST, GraphQL and MCP. */
const features: Readonly<Record<string, readonly Row[]>> = {
  Emails: [
    [
      'List and search emails',
      'listEmails',
      'emails',
      'search_emails',
      '`search` of REST also finds parts of the subject and of addresses',
    ],
    ['Read an email', 'getEmail', 'email node nodes', 'read_email'],
    ['Wait for an email', 'waitForEmail', 'waitForEmail', 'wait_for_email'],
    ['Read or archive one email', 'updateEmail putEmail'],
    ['Read or archive several emails'],
    ['Safe HTML', 'showEmail', '', '', CONNECTIONS],
    ['Message in quarantine', 'downloadQuarantined', '', '', 'Files are HTTP downloads'],
    ['Move an email to the trash', '', '', '', 'GraphQL moves up to 100 emails'],
    [
      'Delete an email forever',
      'deleteEmail',
      '',
      '',
      'The REST route also cancels scheduled mail; GraphQL deletes whole threads: `deleteThreadsForever`',
    ],
    ['Restore an email', '', '', '', 'GraphQL restores the thread: restoreThreads'],
    ['Mail that waits', '', 'waitingEmails', '', 'REST: `GET /emails` with `status` and `time_range=all`'],
  ],
  Attachments: [
    [
      'Download an attachment',
      'downloadAttachment downloadAttachmentPart',
      '',
      'read_attachment',
      'Files are HTTP downloads; GraphQL returns their links',
    ],
    ['Preview, download all', 'previewAttachment downloadAttachments', '', '', 'Files are HTTP downloads'],
    ['Raw message', 'downloadRawEmail', '', '', 'GraphQL: `Email.rawSource`'],
    ['List attachments', 'listEmailAttachments getEmailAttachment', '', '', CONNECTIONS],
  ],
  Threads: [
    [
      'List threads',
      'listThreads',
      'threads inbox',
      'search_threads',
      'GraphQL and MCP have the search language and labels',
    ],
    ['Read a thread', 'getThread', 'thread', 'read_thread'],
    ['Select all matching threads', '', 'inboxSelection'],
    ['Change flags and labels', '', '', 'label_threads archive_threads mark_threads_read'],
    ['Undo a change'],
    ['List labels'],
    ['Merge threads'],
    ['Split a thread'],
    ['Move messages'],
    ['Trash, delete and restore', '', '', 'trash_threads'],
  ],
  Sending: [
    ['Send an email'],
    ['Reply'],
    ['Forward'],
    ['Send a batch', 'sendBatch', 'sendEmails'],
    ['Reschedule', '', '', '', 'REST: `PATCH /emails/{id}` with `scheduled_at`'],
    ['Drafts'],
    ['Attachment of a draft', 'downloadDraftAttachment'],
  ],
  Domains: [],
  Endpoints: [
    ['List and read endpoints'],
    ['Create and change endpoints'],
    ['Test an endpoint', 'testEndpoint'],
    ['Rotate the secret'],
    ['Preview a payload query'],
  ],
  Events: [
    [
      'Read and stream events',
      'listEvents',
      'events Subscription.events deliveryUpdated domainUpdated emailReceived emailUpdated readByMe threadPresence threadUpdated',
      '',
      'REST streams all events with `Accept: text/event-stream`',
    ],
  ],
  Routing: [['Explain a route']],
  Account: [
    [
      'Sign up as an agent',
      'signUpAgent confirmAgent',
      '',
      '',
      'REST only: a program that has no key yet cannot use the others',
    ],
  ],
  'Paths of other clients': [
    [
      'Received mail',
      'listReceiving getReceiving listReceivingAttachments getReceivingAttachment',
      '',
      '',
      OTHER_CLIENTS,
    ],
    [
      'Scheduled mail',
      'legacyListScheduledEmails legacyScheduleEmail legacyGetScheduledEmail legacyCancelScheduledEmail',
      '',
      '',
      OTHER_CLIENTS,
    ],
    [
      'Mail',
      'legacyListMail legacyReplyToMail legacyGetMail legacyUpdateMail legacyGetMailThread legacyUpdateMails',
      '',
      '',
      OTHER_CLIENTS,
    ],
    [
      'Webhooks and logs of `resend`',
      'listWebhooks createWebhook getWebhook updateWebhook deleteWebhook rotateWebhookSecret listWebhookEvents getWebhookEvent listWebhookEventAttempts replayWebhookEvent listLogs getLog',
      '',
      '',
      OTHER_CLIENTS,
    ],
    [
      'Domains, suppressions',
      'legacyVerifyDomain legacyCheckDomain legacyUnblockAddress batchCreateSuppressions batchDeleteSuppressions',
      '',
      '',
      OTHER_CLIENTS,
    ],
  ],
};

/** Returns the rows that capabilities declare: one for each, and the rows that single operations name. */
function readDeclared(feature: string): OperationNames[] {
  return capabilities
    .filter((capability) => capability.feature === feature)
    .flatMap(({ what: own, operations, byHand = {}, difference }) => {
      const rows = new Set([own, ...operations.map(({ what }) => what ?? own)]);
      return [...rows].flatMap((what) => {
        const named = operations.filter((operation) => (operation.what ?? own) === what);
        const hand = what === own ? byHand : {};
        const rest = named.flatMap((operation) => [
          ...listed(operation.operationId),
          ...listed(operation.kind === 'update' ? operation.putOperationId : undefined),
        ]);
        const row = {
          feature,
          what,
          rest: rest.concat(hand.rest ?? []),
          graphql: named.flatMap(({ field }) => listed(field)).concat(hand.graphql ?? []),
          mcp: named.flatMap(({ tool }) => listed(tool?.name)).concat(hand.mcp ?? []),
          ...(difference === undefined || what !== own ? {} : { difference }),
        };
        return row.rest.length + row.graphql.length + row.mcp.length === 0 ? [] : [row];
      });
    });
}

/** The rows of a feature: those above with what capabilities declare for them, then the other declared ones. */
export const operationNames: readonly OperationNames[] = Object.entries(features).flatMap(([feature, rows]) => {
  const declared = readDeclared(feature);
  const written = rows.map(([what, rest = '', graphql = '', mcp = '', difference]) => {
    const same = declared.filter((row) => row.what === what);
    return {
      feature,
      what,
      rest: [...same.flatMap((row) => row.rest), ...splitNames(rest)],
      graphql: [...same.flatMap((row) => row.graphql), ...splitNames(graphql)],
      mcp: [...same.flatMap((row) => row.mcp), ...splitNames(mcp)],
      ...(difference === undefined ? {} : { difference }),
    };
  });
  return [...written, ...declared.filter(({ what }) => !rows.some(([known]) => known === what))];
});

function listed(name: string | undefined): string[] {
  return name === undefined ? [] : [name];
}

function splitNames(names: string): string[] {
  return names.split(' ').filter((name) => name !== '');
}

/** Returns a function that gives the cells of a REST operation: its method and path, and its scopes. It throws for an unknown one. */
function readOperations({
  paths = {},
}: OpenAPIV3_1.Document): (operationId: string) => { path: string; scopes: string } {
  const known = new Map<string, { path: string; scopes: string }>();
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item ?? {})) {
      const { operationId, 'x-required-scopes': lists = [] } = operation as OpenAPIV3_1.OperationObject<{
        'x-required-scopes'?: string[][];
      }>;
      if (operationId === undefined) continue;
      const scopes = lists.map((list) => list.join(' and ')).join(' or ');
      known.set(operationId, { path: `\`${method.toUpperCase()} ${path.replace('/api/e2', '')}\``, scopes });
    }
  return (operationId) => {
    const cells = known.get(operationId);
    if (cells === undefined) throw new Error(`No REST operation is named ${operationId}`);
    return cells;
  };
}

/** Returns the page docs/parity.md. */
export function writeParityPage(document: OpenAPIV3_1.Document): string {
  const find = readOperations(document);
  const parts = [
    '# Operations by interface',
    '',
    'Every operation of REST, GraphQL and MCP, and where the interfaces differ. Written by `npm run contracts`; a test compares it with the routes, the GraphQL schema and the MCP tools.',
    'REST paths begin with `/api/e2`. The scope is what an [API key](api-keys.md#scopes) needs for the paths of REST, line by line if they differ; the fields of GraphQL and the tools of MCP need the same.',
  ];
  for (const feature of Object.keys(features)) {
    parts.push(
      '',
      `## ${feature}`,
      '',
      '| operation | REST | scope | GraphQL | MCP | difference |',
      '|---|---|---|---|---|---|',
    );
    for (const row of operationNames.filter((each) => each.feature === feature)) {
      const rest = row.rest.map(find);
      const scopes = rest.map((each) => each.scopes);
      const cells = [
        row.what,
        rest.map(({ path }) => path).join('<br>'),
        (new Set(scopes).size > 1 ? scopes : scopes.slice(0, 1)).join('<br>'),
        list(row.graphql),
        list(row.mcp),
        row.difference ?? '',
      ];
      parts.push(`| ${cells.join(' | ')} |`);
    }
  }
  return `${parts.join('\n')}\n`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join('<br>');
}
