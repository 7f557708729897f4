import { countSent, MAX_SENT_COUNTED } from '../../../operations/accounts/account.ts';
import { type FirstMail, readFirstMail } from '../../../operations/upkeep/first-mail.ts';
import { builder } from '../builder.ts';
import { EmailAddressNode } from '../nodes.ts';
import { AccountLimits, ServiceSettings, Viewer } from './account.ts';

builder.objectFields(ServiceSettings, (t) => ({
  version: t.string({
    description: 'Which version of the service runs.',
    resolve: (_settings, _args, { reads }) => reads.settings.version,
  }),
  smtpHost: t.string({
    description: 'Where mail can be handed over, to try the service out.',
    resolve: (_settings, _args, { reads }) => reads.settings.smtp.host,
  }),
  smtpPort: t.int({
    description: 'The port there.',
    resolve: (_settings, _args, { reads }) => reads.settings.smtp.port,
  }),
  isSignUpOpen: t.boolean({
    description: 'Whether anybody may make an account.',
    resolve: (_settings, _args, { reads }) => reads.settings.isSignUpOpen,
  }),
  retentionDays: t.int({
    nullable: true,
    description: 'After how many days mail is deleted; null: it is kept until you delete it.',
    resolve: () => null,
  }),
}));

builder.objectField(AccountLimits, 'sentWithinHour', (t) =>
  t.int({
    description: `Emails that were sent within the last hour, as sendsPerHour counts them; without a limit at most ${MAX_SENT_COUNTED} are counted.`,
    resolve: (_limits, _args, { reads }) => countSent(reads),
  }),
);

const FirstMailRef = builder.objectRef<FirstMail>('FirstEmailCommands').implement({
  description: 'How a first mail is sent to you, by commands for a shell.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'Your oldest address that mail reaches.' }),
    emailAddress: t.field({
      type: EmailAddressNode,
      nullable: true,
      description: 'The same; null: it was deleted meanwhile.',
      resolve: ({ addressId }) => addressId,
    }),
    swaks: t.exposeString('swaks', { description: 'Sends a mail there by swaks.' }),
    curl: t.exposeString('curl', { description: 'Sends a mail there by curl.' }),
    list: t.exposeString('list', { description: 'Lists emails by REST; put a key in the place of API_KEY.' }),
  }),
});

builder.objectField(Viewer, 'firstMail', (t) =>
  t.field({
    type: FirstMailRef,
    nullable: true,
    description: 'How a first mail is sent to you; null: mail reaches none of your addresses.',
    resolve: (_viewer, _args, { reads }) => readFirstMail(reads),
  }),
);
