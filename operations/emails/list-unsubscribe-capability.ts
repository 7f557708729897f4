import { z } from 'zod';
import type { ListUnsubscribe } from '../../core/mime/list-unsubscribe.ts';
import { graphqlOnly, linkTo, named, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { loadListUnsubscribes, readUnsubscribe, unsubscribeFromList } from './list-unsubscribe.ts';

const offer = z
  .object({
    object: restLiteral('list_unsubscribe'),
    emailId: restOnly(z.string()),
    isOneClick: named(z.boolean(), { restName: 'one_click' }).meta({
      description:
        'Whether one request leaves the list (RFC 8058): the email offers it over https, and a valid DKIM signature covers the offer.',
    }),
    url: named(z.string().nullable(), { graphqlType: 'URL' }).meta({
      description: 'https address of a page to unsubscribe. Null if there is none.',
    }),
    mailto: z.string().nullable().meta({
      description: '`mailto:` address of an email that unsubscribes. Null if there is none.',
    }),
  })
  .meta({ id: 'ListUnsubscribe', description: 'How the recipient of an email leaves the list that sent it.' });

const NONE: ListUnsubscribe = { oneClickUrl: null, url: null, mailto: null };

function describeOffer({ oneClickUrl, url, mailto }: ListUnsubscribe) {
  return { isOneClick: oneClickUrl !== null, url, mailto };
}

export const listUnsubscribeCapability: Capability = {
  feature: 'Emails',
  what: 'Leave a mailing list',
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'read',
      operationId: 'readListUnsubscribe',
      summary: 'Retrieve how to unsubscribe',
      description:
        'Returns how the recipient of an email leaves the list that sent it: with one request, on a page, or by an email. Of mail that says nothing about it, all fields are empty.',
      method: 'GET',
      path: '/:id/unsubscribe',
      target: { argument: 'id', argumentDescription: 'ID of the email.' },
      input: z.object({}),
      output: offer,
      errors: [],
      of: {
        type: 'Email',
        field: 'listUnsubscribe',
        description: 'How the recipient leaves the list that sent the email. Null if the email does not say.',
        isNullable: true,
        isAbsent: ({ type }: { type: string }) => type !== 'received',
        cost: 5,
        load: async (context, ids) =>
          (await loadListUnsubscribes(context, ids)).map((each) => (each === null ? null : describeOffer(each))),
      },
      run: async (context, _input, emailId) => ({
        emailId,
        ...describeOffer((await readUnsubscribe(context, emailId)) ?? NONE),
      }),
    }),
    defineAction({
      access: 'sendAndRead',
      operationId: 'unsubscribeFromList',
      field: 'unsubscribeFromList',
      summary: 'Unsubscribe from a mailing list',
      description:
        'Leaves the list that sent an email with one POST request to the list (RFC 8058). A list that refuses or does not respond is a result, not an error. A conflict if the email does not offer this, or if no valid DKIM signature covers the offer.',
      method: 'POST',
      path: '/:id/unsubscribe',
      target: { argument: 'emailId', argumentDescription: 'ID of the email.' },
      input: z.object({}),
      output: z
        .object({
          object: restLiteral('list_unsubscription'),
          emailId: linkTo('Email', graphqlOnly(z.string())).meta({ description: 'The email.' }),
          id: restOnly(z.string()),
          isDone: named(z.boolean(), { restName: 'done' }).meta({
            description: 'Whether the list accepted the request.',
          }),
          statusCode: z.number().int().nullable().meta({
            description: 'HTTP status of the list’s response. Null if it did not respond.',
          }),
          message: z.string().meta({ description: 'The result in words.' }),
        })
        .meta({ id: 'ListUnsubscription', description: 'Result of unsubscribing from a mailing list.' }),
      errors: [409],
      tool: { name: 'unsubscribe_from_list', description: 'Leave the mailing list that sent an email.' },
      run: async (context, _input, id) => ({ id, emailId: id, ...(await unsubscribeFromList(context, id)) }),
    }),
  ],
};
