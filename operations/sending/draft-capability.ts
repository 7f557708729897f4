import { z } from 'zod';
import { DRAFT_KINDS, type DraftFields } from '../../core/sending/draft.ts';
import type { GivenAttachment } from '../../core/sending/outgoing-attachments.ts';
import { MAX_POLICY_UNDO_SECONDS } from '../../core/sending/send-policy.ts';
import {
  costing,
  graphqlOnly,
  graphqlText,
  inRest,
  linkTo,
  named,
  nameType,
  required,
  restOnly,
  usually,
} from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import {
  type Capability,
  defineAction,
  defineChange,
  defineDelete,
  defineList,
  defineRead,
  defineResource,
} from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import { bodyText } from '../emails/content-shapes.ts';
import * as drafts from './drafts.ts';
import {
  addresses,
  addressList,
  attachmentList,
  changedAttachment,
  claimToken,
  content,
  listUnsubscribe,
  metadataField,
  readFile,
  readHeaders,
  readMetadata,
} from './email-input.ts';
import { sendDraft } from './send-draft.ts';
import { linkReceipt, sendingOptions, sentEmail } from './sending-capability.ts';

const number = z.number().int();
const optional = z.string().nullish();

const kind = oneOf(DRAFT_KINDS, {
  name: 'DraftKind',
  description: 'What a draft is sent as.',
  values: {
    new: 'A new email.',
    reply: 'A reply to the sender of the original.',
    reply_all: 'A reply to the sender and the other recipients of the original.',
    forward: 'A new email that quotes the original.',
  },
});

/** A tag of a sent email. */
export const sentTag = nameType(
  z.object({
    name: z.string().meta({ description: 'Name of the tag.' }),
    value: z.string().meta({ description: 'Value of the tag.' }),
  }),
  { type: 'Tag', description: 'A name-value pair to identify a sent email. Recipients do not see it.' },
);

const maybe = z.string().nullable();
/** As the client gave them: a text or a list in REST, always a list in GraphQL. */
const asGiven = restOnly(addresses.nullable());
const AS_GIVEN = 'As given: one address each, or a text that lists several.';
const makeListField = (name: string, what: string) =>
  graphqlOnly(z.array(z.string()), name).meta({ description: `${what} ${AS_GIVEN}` });

/** Attachments that the cost limit assumes. */
const USUAL_FILES = 2;

/** A draft with its fields beside its ID; with its bodies where they were read. */
export type DraftRow = Omit<drafts.Draft, 'fields'> & DraftFields & Partial<Pick<drafts.DraftDetails, 'text' | 'html'>>;

/** Returns the draft as the resource has it. */
export function flattenDraft<Draft extends drafts.Draft>({
  fields,
  ...draft
}: Draft): Omit<Draft, 'fields'> & DraftFields {
  return { ...fields, ...draft };
}

const loadBodies = async (context: Parameters<typeof drafts.loadDraftBodies>[0], rows: readonly DraftRow[]) =>
  drafts.loadDraftBodies(
    context,
    rows.map(({ id }) => id),
  );

export const draftResource = defineResource<DraftRow>()({
  name: 'Draft',
  identifier: 'draft',
  description: 'An email that is not sent yet. Any field can be missing until then.',
  isOfDomain: true,
  shape: z.object({
    version: graphqlText(number, 'Grows with every change. Updates and sending name it.').meta({
      description: 'Grows with every change.',
    }),
    kind: graphqlText(kind, 'What it is sent as.'),
    originalEmailId: graphqlText(
      linkTo('Email', maybe),
      'The email that it replies to or forwards. Null for a new email, or if the original was deleted.',
    ).meta({ description: 'The email that it replies to or forwards.' }),
    threadId: restOnly(maybe).meta({ description: 'Thread of that email.' }),
    from: graphqlText(maybe, 'Sender.'),
    to: asGiven,
    toList: makeListField('to', 'To recipients.'),
    cc: asGiven,
    ccList: makeListField('cc', 'Cc recipients.'),
    bcc: asGiven,
    bccList: makeListField('bcc', 'Bcc recipients.'),
    replyTo: asGiven,
    replyToList: makeListField('replyTo', 'Addresses to reply to.'),
    subject: graphqlText(maybe, 'Subject.'),
    preview: z.string().meta({ description: 'Beginning of the text.' }),
    headers: graphqlText(z.record(z.string(), z.string()).nullable(), 'Custom headers, values by name.'),
    tags: restOnly(z.array(z.object({ name: z.string(), value: z.string() })).nullable()),
    tagList: graphqlOnly(z.array(sentTag), 'tags').meta({ description: 'Tags.' }),
    metadata: graphqlText(
      z.record(z.string(), z.unknown()).nullable(),
      'An object that replies to the email will carry. Recipients do not see it.',
    ),
    scheduledAt: graphqlText(
      maybe,
      'Send time as given. A phrase such as `tomorrow at 9am` counts from the moment of sending.',
    ).meta({ description: 'As it was given. A phrase such as `tomorrow at 9am` counts from the moment of sending.' }),
    timezone: graphqlText(maybe, 'IANA time zone of scheduledAt.'),
    listUnsubscribe: restOnly(z.union([z.boolean(), z.object({ list: z.string().nullish() })]).nullable()),
    withAttachments: restOnly(z.boolean().nullable()),
    includesAttachments: graphqlOnly(z.boolean(), 'withAttachments').meta({
      description: 'Of a forward: whether it includes the attachments of the original.',
    }),
    attachments: graphqlText(
      usually(
        USUAL_FILES,
        z.array(
          nameType(
            graphqlText(
              z.object({
                id: graphqlText(z.string(), 'ID to keep it in an update.'),
                filename: graphqlText(z.string(), 'Name of the file.'),
                contentType: graphqlText(z.string(), 'Content type, such as `application/pdf`.'),
                contentId: graphqlText(
                  named(maybe, { graphqlType: 'String' }),
                  'Content-ID, if the HTML refers to it.',
                ),
                sizeBytes: named(number, { restName: 'size', graphqlName: 'size' }).meta({ description: 'Bytes.' }),
              }),
              'An attachment of a draft.',
            ),
            { id: 'DraftAttachment' },
          ),
        ),
      ),
      'Its own attachments, in order.',
    ),
    createdByKeyId: restOnly(maybe).meta({
      description: 'API key that created it. Null if it was created in the dashboard.',
    }),
    updatedByKeyId: restOnly(maybe).meta({ description: 'API key that changed it last.' }),
    isByKey: graphqlOnly(z.boolean()).meta({
      description: 'Whether an API key changed it last, and not a person in the dashboard.',
    }),
    createdAt: graphqlText(z.date(), 'When it was created.'),
    updatedAt: graphqlText(z.date(), 'When it was last changed.'),
    text: graphqlText(costing(2, named(bodyText.nullable(), { graphqlType: 'String' })), 'The plain-text body.'),
    html: graphqlText(costing(2, named(bodyText.nullable(), { graphqlType: 'String' })), 'The HTML body.'),
  }),
  computed: {
    toList: ({ to }) => readList(to),
    ccList: ({ cc }) => readList(cc),
    bccList: ({ bcc }) => readList(bcc),
    replyToList: ({ replyTo }) => readList(replyTo),
    tagList: ({ tags }) => tags ?? [],
    includesAttachments: ({ withAttachments }) => withAttachments ?? true,
    isByKey: ({ updatedByKeyId }) => updatedByKeyId !== null,
  },
  loaded: {
    text: { isInLists: false, load: loadBodies, of: 'text' },
    html: { isInLists: false, load: loadBodies, of: 'html' },
  },
  load: async (context, ids) => (await drafts.loadDrafts(context, ids)).map((found) => found && flattenDraft(found)),
});

/** Returns the addresses of a field as a list. */
export function readList(given: string | readonly string[] | null): readonly string[] {
  return typeof given === 'string' ? [given] : (given ?? []);
}

const version = required(
  graphqlText(
    inRest(number, z.int().min(1).meta({ description: 'Version of the draft that you have read.' })),
    'Version of the draft that you have read.',
  ),
);

const { scheduledAt, timezone } = content;

/** The fields of POST /emails, without aliases; a claim is named when the draft is sent. */
const fields = {
  from: graphqlText(optional, '`address` or `Name <address>`.').meta({
    description: '`address` or `Name <address>`, on one of your verified domains.',
  }),
  to: addressList('To recipients, each `address` or `Name <address>`.'),
  cc: content.cc,
  bcc: content.bcc,
  replyTo: content.replyTo,
  subject: graphqlText(optional, 'One line of up to 998 characters.'),
  text: content.text,
  html: content.html,
  headers: content.headers,
  headerList: content.headerList,
  tags: content.tags,
  metadata: metadataField,
  scheduledAt,
  timezone,
  listUnsubscribe: graphqlText(listUnsubscribe, 'Adds List-Unsubscribe with a one-click link for the only recipient.'),
};

const withAttachments = z.boolean().nullish().meta({
  description: 'Of a forward: whether to include the attachments of the original. The default is true.',
});

export const newDraftShape = z.object({
  kind: graphqlText(kind.nullish(), 'What it is sent as. The default is NEW.').meta({
    description: 'What the draft is sent as. The default is `new`; the others need `original_email_id`.',
  }),
  originalEmailId: graphqlText(
    inRest(
      optional,
      text.nullish().meta({
        description: 'ID of the email that the draft replies to or forwards, or of a thread, for its latest email.',
      }),
    ),
    'ID of the email that it replies to or forwards, or of a thread, for its latest email.',
  ),
  ...fields,
  attachments: attachmentList,
  withAttachments,
});

export const draftChangeShape = z
  .object({
    version,
    ...fields,
    attachments: graphqlText(z.array(changedAttachment).nullish(), 'All attachments, in order.').meta({
      description: 'All attachments, in order: new ones with `content`, and those to keep by their `id`.',
    }),
    withAttachments,
  })
  .meta({ required: ['version'] });

type DraftChange = Partial<Omit<z.output<typeof draftChangeShape>, 'version'>>;

/** Returns the fields of an input; missing ones stay undefined. Throws validation. */
export function readDraftInput(
  { headers, headerList, metadata, attachments, ...input }: DraftChange,
  withoutContent = NO_FILE,
): drafts.DraftInput {
  return {
    ...input,
    headers: readHeaders({ headers, headerList }),
    metadata: readMetadata(metadata),
    attachments:
      attachments == null
        ? attachments
        : attachments.map((file, index): GivenAttachment | { id: string } =>
            file.id == null ? readFile(file, `attachments.${index}`, withoutContent) : { id: file.id },
          ),
  };
}

const NO_FILE = 'An attachment needs the ID of one that the draft has, or its content';

/** What a key without `read` needs to change the draft further. */
const shows = ['Draft.version', 'Draft.updatedAt'];
const target = { argument: 'id', argumentDescription: 'ID of the draft.' } as const;
const filterText = text.optional();

export const draftCapability: Capability = {
  feature: 'Sending',
  what: 'Drafts',
  byHand: { mcp: ['list_drafts', 'read_draft', 'create_draft', 'update_draft', 'delete_draft', 'send_draft'] },
  tag: 'Drafts',
  path: '/drafts',
  restCase: 'snake',
  resource: draftResource,
  operations: [
    defineList({
      access: 'read',
      operationId: 'listDrafts',
      field: 'drafts',
      summary: 'List drafts',
      description: 'Returns the last changed first, without their bodies.',
      graphqlDescription: 'Drafts, last changed first.',
      isPagedByItem: false,
      filter: z.object({
        threadId: graphqlText(
          inRest(
            z.string().optional(),
            filterText.meta({ description: 'Returns drafts that answer emails of this thread only.' }),
          ),
          'Matches drafts that answer emails of this thread.',
        ),
        originalEmailId: graphqlText(
          inRest(
            z.string().optional(),
            filterText.meta({ description: 'Returns drafts that answer this email only.' }),
          ),
          'Matches drafts that answer this email.',
        ),
      }),
      order: { cursorOf: ({ updatedAt, id }: DraftRow) => ({ at: updatedAt, id }) },
      page: async (context, filter, page) => (await drafts.pageDrafts(context, filter, page)).map(flattenDraft),
      count: drafts.countDrafts,
      async list(context, filter, page) {
        const { drafts: found, total } = await drafts.listDrafts(context, filter, page);
        return { rows: found.map(flattenDraft), total };
      },
    }),
    defineRead({
      access: 'read',
      operationId: 'getDraft',
      field: 'draft',
      summary: 'Retrieve a draft',
      description: 'Returns a draft with its bodies. The content of attachments is not included.',
      graphqlDescription: 'Returns the draft with this ID, or null if the account has no such draft.',
      target,
      read: async (context, id) => flattenDraft(await drafts.readDraft(context, id)),
    }),
    defineChange({
      kind: 'create',
      access: 'send',
      operationId: 'createDraft',
      field: 'createDraft',
      summary: 'Create a draft',
      description:
        'Stores an email without sending it. All fields are optional; given fields must be valid. The draft stays until you send or delete it.',
      graphqlDescription:
        'Stores an email without sending it. Fields that are given must be valid; any can be missing.',
      input: newDraftShape,
      inputName: 'CreateDraft',
      example: [
        {
          from: 'Support <support@example.com>',
          to: ['ada@example.org'],
          subject: 'Your order',
          text: 'It is on its way.',
        },
        {
          kind: 'reply',
          originalEmailId: `em_${'0'.repeat(32)}`,
          from: 'support@example.com',
          text: 'Tomorrow.',
        },
      ],
      isMail: true,
      shows,
      errors: [404],
      run: async (context, { kind: sentAs, originalEmailId, ...input }) =>
        flattenDraft(await drafts.createDraft(context, { kind: sentAs, originalEmailId, ...readDraftInput(input) })),
    }),
    defineChange({
      kind: 'update',
      access: 'send',
      operationId: 'updateDraft',
      field: 'updateDraft',
      summary: 'Update a draft',
      description:
        'Changes the given fields; null clears a field. If the draft is not at `version` any more, the response is 409 with the present version, and nothing is changed. A key without the scope `read` changes only drafts that it wrote itself.',
      graphqlDescription:
        'Changes the given fields of a draft; null clears a field. Returns Conflict with the code DRAFT_CHANGED if the draft is not at this version any more; its details name the present one.',
      target,
      input: draftChangeShape,
      inputName: 'UpdateDraft',
      example: { version: 1, subject: 'Your order 4711', attachments: [{ id: `att_${'0'.repeat(32)}` }] },
      isMail: true,
      shows,
      errors: [404],
      run: async (context, { version: read, ...input }, id) =>
        flattenDraft(await drafts.updateDraft(context, id, { version: read, ...readDraftInput(input) })),
    }),
    defineDelete({
      access: 'send',
      operationId: 'deleteDraft',
      field: 'deleteDraft',
      summary: 'Delete a draft',
      description: 'Deletes a draft with its attachments.',
      target,
      input: z.object({}),
      errors: [],
      deleted: { description: 'A deleted draft.', idDescription: 'ID of the draft.', fields: [] },
      async run(context, _input, id) {
        await drafts.deleteDraft(context, id);
        return { id };
      },
    }),
    defineAction({
      ...sendingOptions,
      isMail: false,
      operationId: 'sendDraft',
      field: 'sendDraft',
      summary: 'Send a draft',
      description:
        'Sends a draft as POST /emails would, or as a reply or forward, and removes it. Of several requests, one sends it; the others get 404, or the response of the first one with the same `Idempotency-Key`. If `version` is given and the draft is not at it any more, the response is 409 and nothing is sent.',
      graphqlDescription:
        'Sends a draft, or schedules it, and removes it. Of several requests, one sends it. Returns Conflict with the code DRAFT_CHANGED if a version is given and the draft is not at it any more.',
      path: '/:id/send',
      target,
      input: z.object({
        version: inRest(
          number.optional(),
          z.int().min(1).optional().meta({ description: 'Version to send. Without it, the present one is sent.' }),
        ).meta({ description: 'Version to send. Without it, the present one is sent.' }),
        undoSeconds: graphqlText(
          inRest(
            number.nullish(),
            z.int().min(0).max(MAX_POLICY_UNDO_SECONDS).nullish().meta({
              description:
                'Seconds that the email waits, scheduled, before it is sent. It can be cancelled meanwhile. The default is 0. A draft with `scheduled_at` waits until then.',
            }),
          ),
          `Seconds that the email waits, scheduled, before it is sent, up to ${MAX_POLICY_UNDO_SECONDS}. It can be cancelled meanwhile. The default is 0. A draft with a send time waits until then.`,
        ),
        claimToken,
      }),
      inputName: 'SendDraft',
      example: [{ version: 1 }, {}],
      isInputOptional: true,
      output: sentEmail,
      payloadField: 'email',
      errors: [403, 404],
      idempotencyOperation: 'send-draft',
      run: async (context, input, id, idempotency) =>
        linkReceipt((await sendDraft(context, { id, ...input }, idempotency)).receipt),
    }),
    defineAction({
      access: 'read',
      what: 'Attachment of a draft',
      field: 'draftAttachment',
      summary: 'Attachment of a draft',
      description:
        'Returns an attachment of a draft, or null if the account has no such draft or attachment. Expensive: an operation can read five.',
      method: 'GET',
      path: '',
      isNullable: true,
      // A file can have 10 MB, so that an operation reads at most five.
      cost: 1_000,
      isOfDomain: true,
      input: z.object({
        draftId: z.string().meta({ description: 'ID of the draft.' }),
        id: z.string().meta({ description: 'ID of the attachment in the draft.' }),
      }),
      output: nameType(
        z.object({
          filename: z.string().meta({ description: 'Name of the file.' }),
          contentType: z.string().meta({ description: 'Content type, such as `application/pdf`.' }),
          content: z.string().meta({ description: 'The file in base64.' }),
        }),
        { type: 'DraftFile', description: 'An attachment of a draft with its content.' },
      ),
      errors: [],
      async run(context, { draftId, id }) {
        const { filename, contentType, bytes } = await drafts.readDraftAttachment(context, draftId, id);
        const encode = async () => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
        return { filename, contentType, content: encode };
      },
    }),
  ],
};
