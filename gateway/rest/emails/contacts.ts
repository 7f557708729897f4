import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { listSenders, MAX_CONTACTS, suggestContacts } from '../../../operations/emails/contacts.ts';
import {
  addImageSender,
  MAX_IMAGE_SENDERS,
  readImageSenders,
  removeImageSender,
} from '../../../operations/emails/image-senders.ts';
import { access } from '../../admission/access.ts';
import { errorBody, instant, type RestOptions, text, wireInstant } from '../shapes.ts';

const suggestionQuery = (fallback: number) =>
  z.object({
    prefix: text.default('').meta({
      description: 'Start of the address, of its domain, or of a word in the name, case-insensitive.',
    }),
    limit: z.coerce.number().int().min(1).max(MAX_CONTACTS).default(fallback).meta({
      description: 'Number of addresses to return.',
    }),
  });

const contactList = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z
        .object({
          name: z.string().nullable().meta({ description: 'Display name in emails. Null if there is none.' }),
          address: z.string().meta({ description: 'In lowercase.' }),
        })
        .meta({ id: 'Contact' }),
    ),
  })
  .meta({ id: 'ContactList' });

const senderList = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z
        .object({ address: z.string(), address_id: z.string(), domain_id: z.string() })
        .meta({ id: 'Sender', description: 'An address you can send from.' }),
    ),
  })
  .meta({ id: 'SenderList' });

const imageSender = z
  .object({
    object: z.literal('image_sender'),
    address: z.string().meta({ description: 'In lowercase.' }),
    created_at: instant,
  })
  .meta({ id: 'ImageSender' });

const addressInPath = z.object({ address: z.string().meta({ description: 'The address, URL-encoded.' }) });

/** Addresses that an account writes to, sends from, and shows images of. */
export const contactRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/mail/contacts',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listContacts',
        summary: 'Suggest contacts',
        description:
          'Returns people you have exchanged email with, from the newest threads first. Searches the newest 300 threads; with three or more characters of an address, the newest 300 threads that contain it.',
        tags: ['Emails'],
        querystring: suggestionQuery(10),
        response: { 200: contactList, default: errorBody },
      },
    },
    async (request) => {
      const { prefix, limit } = request.query;
      return { object: 'list' as const, data: await suggestContacts(contextOf(request), prefix, limit) };
    },
  );

  app.get(
    '/senders',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listSenders',
        summary: 'List addresses to send from',
        description:
          'Returns active addresses on verified domains; those that can receive mail come first. You can also send from any other address of a verified domain.',
        tags: ['Email addresses'],
        querystring: suggestionQuery(MAX_CONTACTS),
        response: { 200: senderList, default: errorBody },
      },
    },
    async (request) => {
      const { prefix, limit } = request.query;
      const senders = await listSenders(contextOf(request), prefix, limit);
      return {
        object: 'list' as const,
        data: senders.map(({ address, id, domainId }) => ({ address, address_id: id, domain_id: domainId })),
      };
    },
  );

  app.get(
    '/image-senders',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listImageSenders',
        summary: 'List senders whose images are shown',
        description: `Returns the senders whose remote images the dashboard always shows, by address; up to ${MAX_IMAGE_SENDERS}.`,
        tags: ['Emails'],
        response: {
          200: z.object({ object: z.literal('list'), data: z.array(imageSender) }).meta({ id: 'ImageSenderList' }),
          default: errorBody,
        },
      },
    },
    async (request) => {
      const senders = await readImageSenders(contextOf(request));
      return { object: 'list' as const, data: senders.map(imageSenderBody) };
    },
  );

  app.post(
    '/image-senders',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'addImageSender',
        summary: 'Always show the images of a sender',
        description:
          'Shows the remote images of a sender in emails that SPF or DKIM confirm for the domain of the address and that do not fail DMARC. The servers of the images learn when you open an email.',
        tags: ['Emails'],
        body: z
          .object({ address: z.string().meta({ description: 'The address, case-insensitive.' }) })
          .meta({ id: 'AddImageSender', examples: [{ address: 'news@example.org' }] }),
        response: { 200: imageSender, default: errorBody },
      },
    },
    async (request) => imageSenderBody(await addImageSender(contextOf(request), request.body.address)),
  );

  app.delete(
    '/image-senders/:address',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'removeImageSender',
        summary: 'Block the images of a sender again',
        description: 'Removes a sender from the list.',
        tags: ['Emails'],
        params: addressInPath,
        response: {
          200: z
            .object({ success: z.literal(true), message: z.string(), address: z.string() })
            .meta({ id: 'RemovedImageSender' }),
          default: errorBody,
        },
      },
    },
    async (request) => {
      const address = await removeImageSender(contextOf(request), request.params.address);
      return { success: true as const, message: 'Images of this sender are blocked', address };
    },
  );
};

function imageSenderBody({ address, createdAt }: { address: string; createdAt: Date }): z.infer<typeof imageSender> {
  return { object: 'image_sender', address, created_at: wireInstant(createdAt) };
}
