import {
  addImageSender,
  type ImageSender,
  MAX_IMAGE_SENDERS,
  readImageSenders,
  removeImageSender,
} from '../../../operations/emails/image-senders.ts';
import { access } from '../access.ts';
import { Viewer } from '../accounts/account.ts';
import { builder } from '../builder.ts';

const ImageSenderRef = builder.objectRef<ImageSender>('ImageSender').implement({
  description:
    'A sender whose remote images the dashboard always shows, in emails that the domain of the sender confirms.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'In lowercase.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When you added the sender.' }),
  }),
});

builder.objectField(Viewer, 'imageSenders', (t) =>
  t.field({
    type: [ImageSenderRef],
    description: `Senders whose remote images are always shown, by address; up to ${MAX_IMAGE_SENDERS}.`,
    resolve: (_viewer, _args, { reads }) => readImageSenders(reads),
  }),
);

builder.mutationField('addImageSender', (t) =>
  t.fieldWithInput({
    type: ImageSenderRef,
    access: access.manage,
    description:
      'Always shows the remote images of a sender, in emails that SPF or DKIM confirm for the domain of the address and that do not fail DMARC. The servers of the images learn when you open an email.',
    input: { address: t.input.string({ required: true, description: 'The address of the sender, case-insensitive.' }) },
    errors: { dataField: { name: 'sender' } },
    resolve: (_root, { input }, { operations }) => addImageSender(operations, input.address),
  }),
);

const RemoveImageSenderPayload = builder.objectRef<{ address: string }>('RemoveImageSenderPayload').implement({
  description: 'A sender whose remote images are blocked again.',
  fields: (t) => ({ address: t.exposeString('address', { description: 'The address that was removed.' }) }),
});

builder.mutationField('removeImageSender', (t) =>
  t.fieldWithInput({
    type: RemoveImageSenderPayload,
    access: access.manage,
    description: 'Blocks the remote images of a sender again.',
    input: { address: t.input.string({ required: true, description: 'The address of the sender, case-insensitive.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input }, { operations }) => ({
      address: await removeImageSender(operations, input.address),
    }),
  }),
);
