import { graphql, mutation, type ResultOf, record } from '../graphql.ts';

/** Addresses and domains that can send mail. */
export const SENDERS = graphql(`
  query ComposerSenders {
    senders(first: 50) { address }
    domains(first: 100, filter: { status: VERIFIED }) { edges { node { id name canSend } } }
  }
`);

/** The addresses that contain this text, with their signatures. */
export const SIGNATURES = graphql(`
  query ComposerSignatures($search: String!) {
    emailAddresses(first: 20, filter: { search: $search }) { edges { node { id address signature } } }
  }
`);

/** The message to reply to or to forward. */
export const ORIGINAL = record(`email {
  id type subject createdAt date envelopeRecipient
  ownAddress { address }
  from { name address }
  to { name address }
  cc { name address }
  replyTo { name address }
  thread { id }
  attachments { index filename size }
  content { text cleanedText html }
}`);

/** People with whom mail was exchanged, by the prefix of their address or name. */
export const CONTACTS = graphql(`
  query ComposerContacts($prefix: String!) { contacts(prefix: $prefix, first: 10) { name address } }
`);

const SENT = graphql(`fragment SentEmail on Email { id status scheduledAt thread { id } }`);

const DRAFT = graphql(`
  fragment ComposerDraft on Draft {
    id version kind from to cc bcc subject text html scheduledAt withAttachments
    originalEmail { id }
    attachments { id filename size contentId }
  }
`);

/** A stored draft. */
export const READ_DRAFT = record(`draft { ...ComposerDraft }`, [DRAFT]);

/** The drafts of replies to a message, and of mail that forwards it. */
export const DRAFTS_OF = graphql(
  `query ComposerDraftsOf($originalEmailId: ID!) {
    drafts(first: 10, filter: { originalEmailId: $originalEmailId }) { edges { node { ...ComposerDraft } } }
  }`,
  [DRAFT],
);

/** The drafts that changed last. */
export const NEWEST_DRAFTS = graphql(
  `query ComposerNewestDrafts { drafts(first: 10) { edges { node { ...ComposerDraft } } } }`,
  [DRAFT],
);

/** Stores a new draft. */
export const CREATE_DRAFT = mutation('createDraft', 'draft { id version attachments { id } }');

/** Changes a draft. */
export const UPDATE_DRAFT = graphql(`
  mutation ComposerUpdateDraft($input: UpdateDraftInput!) {
    updateDraft(input: $input) {
      __typename
      ... on UpdateDraftPayload { draft { id version attachments { id } } }
      ... on Conflict { details }
    }
  }
`);

/** Deletes a draft. */
export const DELETE_DRAFT = mutation('deleteDraft', 'deletedId');

/** Sends a draft. */
export const SEND_DRAFT = mutation('sendDraft', 'email { ...SentEmail }', [SENT]);

/** The attachments of an email that was just submitted. */
export const SENT_FILES = record(`email { id attachments { index filename size } }`);

/** Cancels a scheduled email. */
export const CANCEL = mutation('cancelEmail', 'email { id status }');

/** The message to reply to or to forward. */
export type Original = NonNullable<ResultOf<typeof ORIGINAL>['email']>;
/** An email that was just submitted. */
export type SentEmail = ResultOf<typeof SENT>;
/** A draft that the service stores. */
export type StoredDraft = ResultOf<typeof DRAFT>;

/** The snippets of the workspace, by name. */
export const SNIPPETS = graphql(`query DashboardSnippets { snippets { id name text } }`);

/** A text that the composer inserts. */
export type Snippet = ResultOf<typeof SNIPPETS>['snippets'][number];
