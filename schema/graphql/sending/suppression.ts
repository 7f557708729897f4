import { UserError } from '../../../core/shared/errors.ts';
import * as suppressions from '../../../operations/sending/suppressions.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { newSuppressionShape, suppressionQueryShape } from '../../shapes/suppression.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { forgetLoaded } from '../context.ts';
import { addNodeKind } from '../node-kinds.ts';
import { EmailNode, loaderOf, orNull } from '../nodes.ts';

const SuppressionReason = builder.enumType('SuppressionReason', {
  description: 'Why no mail is sent to an address.',
  values: {
    BOUNCE: { value: 'bounce', description: 'Its server refused it for good.' },
    COMPLAINT: { value: 'complaint', description: 'Its owner complained of mail.' },
    MANUAL: { value: 'manual', description: 'You put it in.' },
  } as const,
});

const SuppressionNode = builder.loadableNodeRef<suppressions.Suppression, string, string>('Suppression', {
  id: { resolve: (suppression) => suppression.id },
  load: (ids: string[], { reads }) => suppressions.loadSuppressions(reads, ids).then(orNull),
});
addNodeKind('sup', loaderOf('Suppression', SuppressionNode));

SuppressionNode.implement({
  description: 'An address that your mail is not sent to any more. Sending to it is refused.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'In lower case.' }),
    reason: t.expose('reason', { type: SuppressionReason, description: 'Why no mail is sent there.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'What the server, the report or you said; null when nothing was said.',
    }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that was refused or complained of; null: you put the address in.',
      resolve: ({ emailId }) => emailId,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Since when.' }),
  }),
});

const SuppressionFilter = builder.inputType('SuppressionFilter', {
  description: 'Which suppressions a list shows; what is absent or null puts no condition.',
  fields: (t) => ({
    reason: t.field({ type: SuppressionReason, description: 'Those with one reason.' }),
    search: t.string({ description: 'Part of the address, in any case; at most 100 characters.' }),
  }),
});

builder.queryFields((t) => ({
  suppression: t.field({
    type: SuppressionNode,
    access: access.readAccount,
    nullable: true,
    description: 'A suppression by its id or its address; null when there is none, so that mail is sent there.',
    args: { idOrAddress: t.arg.string({ required: true, description: 'Its id, or the address in any case.' }) },
    resolve: (_root, { idOrAddress }, { reads }) =>
      suppressions.readSuppression(reads, idOrAddress).catch((error: unknown) => {
        if (error instanceof UserError && error.code === 'not_found') return null;
        throw error;
      }),
  }),
  suppressions: t.connection(
    {
      type: SuppressionNode,
      access: access.readAccount,
      description: 'Addresses that your mail is not sent to any more, newest first.',
      args: { filter: t.arg({ type: SuppressionFilter, description: 'Which suppressions to show.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query = parseInput(suppressionQueryShape, {
          reason: args.filter?.reason ?? undefined,
          search: args.filter?.search ?? undefined,
        });
        const page = await connection<suppressions.Suppression>(
          args,
          (suppression) => ({ at: suppression.createdAt, id: suppression.id }),
          (span) => suppressions.pageSuppressions(reads, query, span),
        );
        return { ...page, count: () => suppressions.countSuppressions(reads, query) };
      },
    },
    {
      name: 'SuppressionConnection',
      description: 'A page of suppressions.',
      fields: (c) => ({
        totalCount: c.int({
          description: 'Of all pages; counted when it is asked for.',
          resolve: (page) => page.count(),
        }),
      }),
    },
    { name: 'SuppressionEdge', description: 'A suppression with its cursor.' },
  ),
}));

builder.mutationField('suppressAddress', (t) =>
  t.fieldWithInput({
    type: SuppressionNode,
    access: access.manage,
    description:
      'Has no mail sent to an address until the suppression is lifted. One that is suppressed already stays as it is, and answers so.',
    input: {
      address: t.input.string({ required: true, description: 'The address, in any case.' }),
      detail: t.input.string({ description: 'Why, for yourself; at most 500 characters.' }),
    },
    errors: { dataField: { name: 'suppression' } },
    resolve: async (_root, { input }, context) => {
      const given = parseInput(newSuppressionShape, input);
      const { id } = await suppressions.suppressAddress(context.operations, given);
      forgetLoaded(context);
      return id;
    },
  }),
);

const RemoveSuppressionPayload = builder.objectRef<suppressions.Suppression>('RemoveSuppressionPayload').implement({
  description: 'A suppression that was lifted.',
  fields: (t) => ({
    deletedId: t.exposeID('id', { description: 'The id that it had.' }),
    address: t.exposeString('address', { description: 'The address that mail is sent to again.' }),
  }),
});

builder.mutationField('removeSuppression', (t) =>
  t.fieldWithInput({
    type: RemoveSuppressionPayload,
    access: access.manage,
    description: 'Has mail sent to an address again, until it bounces or is complained of anew.',
    input: { idOrAddress: t.input.string({ required: true, description: 'Its id, or the address in any case.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const lifted = await suppressions.liftSuppression(context.operations, input.idOrAddress);
      forgetLoaded(context);
      return lifted;
    },
  }),
);
