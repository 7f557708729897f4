import {
  type ErasureCounts,
  eraseAccount,
  FRESH_SIGN_IN_MINUTES,
  MAX_ERASURE_COUNT,
  previewErasure,
  SIGN_IN_AGAIN,
} from '../../../operations/accounts/erase-account.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { Viewer } from './account.ts';

/** It counts up to MAX_ERASURE_COUNT rows of nine tables. */
const PREVIEW_COST = 500;

const ErasurePreview = builder.objectRef<ErasureCounts>('ErasurePreview').implement({
  description: `What \`eraseAccount\` erases. Each count stops at ${MAX_ERASURE_COUNT}.`,
  fields: (t) => ({
    emails: t.exposeInt('emails', { description: 'Emails, sent and received, also those in the trash.' }),
    unsentEmails: t.exposeInt('unsent', {
      description:
        'Of these, emails that have not left yet: queued, scheduled, paused or waiting for approval. They are never sent.',
    }),
    threads: t.exposeInt('threads', { description: 'Threads.' }),
    drafts: t.exposeInt('drafts', { description: 'Drafts.' }),
    domains: t.exposeInt('domains', { description: 'Domains. Other accounts can add them at once.' }),
    addresses: t.exposeInt('addresses', { description: 'Email addresses. They reject mail at once.' }),
    endpoints: t.exposeInt('endpoints', { description: 'Endpoints.' }),
    guardRules: t.exposeInt('rules', { description: 'Guard rules.' }),
    apiKeys: t.exposeInt('apiKeys', { description: 'API keys that work now.' }),
  }),
});

builder.objectField(Viewer, 'erasurePreview', (t) =>
  t.field({
    type: ErasurePreview,
    description: 'What `eraseAccount` would erase. Changes nothing.',
    complexity: PREVIEW_COST,
    resolve: (_viewer, _args, { reads }) => previewErasure(reads),
  }),
);

const EraseAccountPayload = builder.objectRef<{ email: string }>('EraseAccountPayload').implement({
  description: 'The erased account.',
  fields: (t) => ({
    email: t.exposeString('email', { description: 'Email address of the account.' }),
  }),
});

builder.mutationField('eraseAccount', (t) =>
  t.fieldWithInput({
    type: EraseAccountPayload,
    access: access.manage,
    description: `Closes the account at once and erases all its data within minutes. This cannot be undone. Needs a dashboard session that was started within the last ${FRESH_SIGN_IN_MINUTES} minutes (code \`${SIGN_IN_AGAIN}\`); API keys cannot erase an account. All sessions and keys end, unsent mail is not sent, and the domains are released.`,
    input: {
      confirmEmail: t.input.string({
        required: true,
        description: 'The email address of the account, typed by its owner.',
      }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input: { confirmEmail } }, { operations }) => {
      await eraseAccount(operations, confirmEmail);
      return { email: confirmEmail.trim().toLowerCase() };
    },
  }),
);
