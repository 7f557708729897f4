import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import type { z } from 'zod';
import { extractFrom } from '../../../core/mime/extracts.ts';
import { checkEmailHtml } from '../../../operations/emails/email-checks.ts';
import { emailChecks } from '../../../operations/emails/email-checks-capability.ts';
import { describeSecurity } from '../../../operations/emails/email-security.ts';
import type { EmailSummary } from '../../../operations/emails/emails.ts';
import { authentication, emailSecurity, extracts, securityWarning } from '../../../operations/emails/finding-shapes.ts';
import { inTurn, withText } from '../../../operations/emails/html-text.ts';
import {
  judgeSender,
  readSecurityWarnings,
  type SecurityWarning,
} from '../../../operations/emails/security-warnings.ts';
import { readAuthentication } from '../../../operations/emails/stored-authentication.ts';
import { builder } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import type { GraphContext } from '../context.ts';
import { EmailNode } from '../nodes.ts';
import { EmailContentRef, loadEmailParts } from './email-content.ts';

/** What is found in an email by reading its content, which is loaded once for all fields. */

/** Extracting from hostile mail takes tens of milliseconds, as does looking for what deceives; checking its HTML takes hundreds. */
const READING_COST = 50;
const CHECKS_COST = 200;

const isOfDomain = { isOfDomain: true };

const warningsOf = createContextCache(
  (context: GraphContext) =>
    new DataLoader<EmailSummary, SecurityWarning[], string>(
      async (emails) => {
        const parts = await Promise.all(emails.map(({ id }) => loadEmailParts(context, id, 'html')));
        const mails = emails.map((email, at) => ({
          email,
          html: parts[at]?.html ?? null,
          authentication: readAuthentication(parts[at]?.authentication ?? null),
        }));
        return readSecurityWarnings(context.reads, mails);
      },
      { cacheKeyFn: ({ id }) => id },
    ),
);

builder.objectFields(EmailNode, (t) => ({
  extracts: t.field({
    type: typeFor(extracts, isOfDomain),
    description: 'Verification codes, links and the event found in the email.',
    complexity: { field: READING_COST },
    resolve: async ({ id, subject }, _args, context) => {
      const [{ text, headers, attachments }, { html }] = await Promise.all([
        loadEmailParts(context, id, 'text'),
        loadEmailParts(context, id, 'html'),
      ]);
      const { workspaceId } = context.operations;
      const shown = await withText(workspaceId, { text, html });
      return inTurn(workspaceId, () => extractFrom({ subject, text: shown.text, html, headers, attachments }));
    },
  }),
  securityWarnings: t.field({
    type: [typeFor(securityWarning, isOfDomain)],
    description: 'Deceptive links, display names and domains in a received email, up to 22. Empty for sent mail.',
    complexity: { field: READING_COST },
    resolve: (email, _args, context) => warningsOf(context).load(email),
  }),
  security: t.field({
    type: typeFor(emailSecurity, isOfDomain),
    description: 'What the screening of the email says: text in it that is aimed at an agent, spam and viruses.',
    resolve: async ({ id }, _args, context) => describeSecurity(await loadEmailParts(context, id, null)),
  }),
  checks: t.field({
    type: typeFor(emailChecks, isOfDomain),
    description:
      'What recipients may not see as the author meant it: broken links, images without alternative text, HTML that Gmail cuts, and features that common mail clients lack.',
    complexity: { field: CHECKS_COST },
    resolve: async ({ id }, _args, context) => {
      const { html } = await loadEmailParts(context, id, 'html');
      return checkEmailHtml(context.reads, id, html) as Promise<z.output<typeof emailChecks>>;
    },
  }),
}));

builder.objectField(EmailContentRef, 'authentication', (t) =>
  t.field({
    type: typeFor(authentication, isOfDomain),
    nullable: true,
    description: 'Authentication results of the sender. Null if not checked, as for sent mail.',
    resolve: async ({ emailId }, _args, context) => {
      const found = readAuthentication((await loadEmailParts(context, emailId, null)).authentication);
      return found === null
        ? null
        : { ...found, arc: { ...found.arc, domain: found.arc.domain ?? null }, sender: judgeSender(found) };
    },
  }),
);
