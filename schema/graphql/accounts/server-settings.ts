import { countSent, MAX_SENT_COUNTED } from '../../../operations/accounts/account.ts';
import { type FirstMail, readFirstMail } from '../../../operations/upkeep/first-mail.ts';
import { builder } from '../builder.ts';
import { EmailAddressNode } from '../nodes.ts';
import { AccountLimits, ServiceSettings, Viewer } from './account.ts';

builder.objectFields(ServiceSettings, (t) => ({
  version: t.string({
    description: 'Version of Postroom.',
    resolve: (_settings, _args, { reads }) => reads.settings.version,
  }),
  smtpHost: t.string({
    description: 'Host and port that accept mail over SMTP, to try the service out.',
    resolve: (_settings, _args, { reads }) => reads.settings.smtp.host,
  }),
  smtpPort: t.int({
    description: 'The SMTP port.',
    resolve: (_settings, _args, { reads }) => reads.settings.smtp.port,
  }),
  isSignUpOpen: t.boolean({
    description: 'Whether anyone can create an account.',
    resolve: (_settings, _args, { reads }) => reads.settings.isSignUpOpen,
  }),
  retentionDays: t.int({
    nullable: true,
    description: 'Days after which mail is deleted. Null means that mail is kept until you delete it.',
    resolve: () => null,
  }),
}));

builder.objectField(AccountLimits, 'sentWithinHour', (t) =>
  t.int({
    description: `Emails sent in the last hour, which count towards sendsPerHour. Without a limit, counting stops at ${MAX_SENT_COUNTED}.`,
    resolve: (_limits, _args, { reads }) => countSent(reads),
  }),
);

const FirstMailRef = builder.objectRef<FirstMail>('FirstEmailCommands').implement({
  description: 'Shell commands to send a first email to yourself.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'Your oldest address that can receive mail.' }),
    emailAddress: t.field({
      type: EmailAddressNode,
      nullable: true,
      description: 'The address as an object. Null if it was deleted in the meantime.',
      resolve: ({ addressId }) => addressId,
    }),
    swaks: t.exposeString('swaks', { description: 'Sends an email to that address with swaks.' }),
    curl: t.exposeString('curl', { description: 'Sends an email to that address with curl.' }),
    list: t.exposeString('list', { description: 'Lists emails over REST; replace API_KEY with a key.' }),
  }),
});

builder.objectField(Viewer, 'firstMail', (t) =>
  t.field({
    type: FirstMailRef,
    nullable: true,
    description: 'Shell commands to send a first email to yourself. Null if none of your addresses can receive mail.',
    resolve: (_viewer, _args, { reads }) => readFirstMail(reads),
  }),
);
