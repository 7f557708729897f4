import { z } from 'zod';
import { graphqlOnly, linkTo, maybeGone, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { type MarkedEmail, markNotSpam, markSpam } from './keep-apart.ts';

const markedEmail = z
  .object({
    success: restLiteral(true),
    message: restOnly(z.string()),
    object: restLiteral('email'),
    emailId: maybeGone(linkTo('Email', graphqlOnly(z.string()))).meta({
      description: 'The email. Null for a moment while an email that was never delivered is received.',
    }),
    id: z.string().meta({ description: 'ID of the email.' }),
    isChanged: z.boolean().meta({ description: 'Whether this request changed anything.' }),
  })
  .meta({ id: 'MarkedEmail', description: 'An email that was marked as spam, or as not spam.' });

const describe = ({ emailId, isChanged }: MarkedEmail, message: string) => ({
  message: isChanged ? message : 'The email was marked so already',
  emailId,
  id: emailId,
  isChanged,
});

const target = { argument: 'emailId', argumentDescription: 'ID of the email.' } as const;
const common = { access: 'organize', method: 'POST', target, input: z.object({}), errors: [] } as const;

export const spamCapability: Capability = {
  feature: 'Emails',
  what: 'Spam',
  ...OF_EMAILS,
  operations: [
    defineAction({
      ...common,
      operationId: 'markSpam',
      field: 'markSpam',
      summary: 'Mark an email as spam',
      description:
        'Moves a received email to the folder Spam for 30 days: lists, threads, counts and searches leave it out. The spam filter learns from it, for this workspace only. Webhooks that were posted before stay posted.',
      path: '/:id/spam',
      tool: { name: 'mark_spam', description: 'Moves an email to the folder Spam.' },
      output: markedEmail,
      run: async (context, _input, id) => describe(await markSpam(context, id), 'Email moved to the folder Spam'),
    }),
    defineAction({
      ...common,
      operationId: 'markNotSpam',
      field: 'markNotSpam',
      summary: 'Mark an email as not spam',
      description:
        'Moves an email out of the folder Spam. If it was filed there when it came, it is threaded, routed and delivered now, as if it had just come. The spam filter learns from it, for this workspace only.',
      path: '/:id/not-spam',
      tool: {
        name: 'mark_not_spam',
        description: 'Moves an email out of the folder Spam, and delivers it if it never was.',
      },
      output: markedEmail,
      run: async (context, _input, id) =>
        describe(await markNotSpam(context, id), 'Email moved out of the folder Spam'),
    }),
  ],
};
