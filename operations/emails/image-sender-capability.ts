import { z } from 'zod';
import { restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { addImageSender, MAX_IMAGE_SENDERS, readImageSenders, removeImageSender } from './image-senders.ts';

const imageSender = z
  .object({
    object: restLiteral('image_sender'),
    address: z.string().meta({ description: 'In lowercase.' }),
    createdAt: z.date().meta({ description: 'When you added the sender.' }),
  })
  .meta({
    id: 'ImageSender',
    description:
      'A sender whose remote images the dashboard always shows, in emails that the domain of the sender confirms.',
  });

export const imageSenderCapability: Capability = {
  feature: 'Emails',
  what: 'Show or block the images of a sender',
  difference: 'GraphQL lists them: `viewer { imageSenders }`',
  tag: 'Emails',
  path: '/image-senders',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'read',
      operationId: 'listImageSenders',
      summary: 'List senders whose images are shown',
      description: `Returns the senders whose remote images the dashboard always shows, by address; up to ${MAX_IMAGE_SENDERS}.`,
      method: 'GET',
      path: '',
      input: z.object({}),
      output: z.array(imageSender).meta({ id: 'ImageSenderList' }),
      errors: [],
      of: { type: 'Viewer', field: 'imageSenders', load: async (context) => [await readImageSenders(context)] },
      run: (context) => readImageSenders(context),
    }),
    defineAction({
      access: 'organizeAccount',
      operationId: 'addImageSender',
      field: 'addImageSender',
      summary: 'Always show the images of a sender',
      description:
        'Shows the remote images of a sender in emails that SPF or DKIM confirm for the domain of the address and that do not fail DMARC. The servers of the images learn when you open an email.',
      method: 'POST',
      path: '',
      input: z.object({ address: z.string().meta({ description: 'The address, case-insensitive.' }) }),
      inputName: 'AddImageSender',
      example: { address: 'news@example.org' },
      output: imageSender,
      payloadField: 'sender',
      errors: [],
      run: (context, { address }) => addImageSender(context, address),
    }),
    defineAction({
      access: 'organizeAccount',
      operationId: 'removeImageSender',
      field: 'removeImageSender',
      summary: 'Block the images of a sender again',
      description: 'Removes a sender from the list.',
      method: 'DELETE',
      path: '/:address',
      target: { argument: 'address', argumentDescription: 'The address, URL-encoded in REST.', parameter: 'address' },
      input: z.object({}),
      output: z
        .object({
          success: restLiteral(true),
          message: restOnly(z.string()),
          address: z.string().meta({ description: 'The address that was removed.' }),
        })
        .meta({ id: 'RemovedImageSender', description: 'A sender whose remote images are blocked again.' }),
      errors: [],
      run: async (context, _input, address) => ({
        message: 'Images of this sender are blocked',
        address: await removeImageSender(context, address),
      }),
    }),
  ],
};
