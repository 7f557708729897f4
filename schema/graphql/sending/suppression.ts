import { adviceOn } from '../../../core/sending/refusal-advice.ts';
import { UserError } from '../../../core/shared/errors.ts';
import * as suppressions from '../../../operations/sending/suppressions.ts';
import { newSuppressionShape, parseInput, suppressionQueryShape } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { connection, totalCount } from '../connection.ts';
import { forgetLoaded } from '../context.ts';
import { addNodeKind } from '../node-kinds.ts';
import { EmailNode, loaderOf, orNull } from '../nodes.ts';
import { Refusal } from './refusal.ts';

const SuppressionReason = builder.enumType('SuppressionReason', {
  description: 'Why an address is suppressed.',
  values: enumValues<suppressions.Suppression['reason']>({
    bounce: 'The server rejected the address permanently.',
    complaint: 'The recipient complained.',
    manual: 'You added the address.',
    unsubscribe: 'The recipient unsubscribed from a list.',
  }),
});

const SuppressionNode = builder.loadableNodeRef<suppressions.Suppression, string, string>('Suppression', {
  id: { resolve: (suppression) => suppression.id },
  load: (ids: string[], { reads }) => suppressions.loadSuppressions(reads, ids).then(orNull),
});
addNodeKind('sup', loaderOf('Suppression', SuppressionNode));

SuppressionNode.implement({
  description: 'An address that receives no more mail from you. Postroom refuses to send to it.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'In lowercase.' }),
    reason: t.expose('reason', { type: SuppressionReason, description: 'Why the address is suppressed.' }),
    list: t.exposeString('list', {
      nullable: true,
      description: 'Only mail of this list is suppressed. Null if all mail is.',
    }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'Text of the server reply, the report or your note. Null if there is none.',
    }),
    refusal: t.field({
      type: Refusal,
      nullable: true,
      description: 'Why the email bounced. Null for other suppressions.',
      resolve: ({ refusalReason }) => adviceOn(refusalReason),
    }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that bounced or caused the complaint. Null if you added the address.',
      resolve: ({ emailId }) => emailId,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the suppression was created.' }),
  }),
});

const SuppressionFilter = builder.inputType('SuppressionFilter', {
  description: 'Filters a list of suppressions. Omit a field or pass null to match all.',
  fields: (t) => ({
    reason: t.field({ type: SuppressionReason, description: 'Matches suppressions with this reason.' }),
    search: t.string({ description: 'Part of the address, case-insensitive, up to 100 characters.' }),
  }),
});

builder.queryFields((t) => ({
  suppression: t.field({
    type: SuppressionNode,
    access: access.read,
    nullable: true,
    description: 'Returns a suppression by its ID or address, or null if there is none.',
    args: {
      idOrAddress: t.arg.string({
        required: true,
        description: 'ID of the suppression, or the address, case-insensitive.',
      }),
    },
    resolve: (_root, { idOrAddress }, { reads }) =>
      suppressions.readSuppression(reads, idOrAddress).catch((error: unknown) => {
        if (error instanceof UserError && error.code === 'not_found') return null;
        throw error;
      }),
  }),
  suppressions: t.connection(
    {
      type: SuppressionNode,
      access: access.read,
      description: 'Suppressed addresses, newest first.',
      args: { filter: t.arg({ type: SuppressionFilter, description: 'Filters the suppressions.' }) },
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
      fields: (c) => totalCount(c),
    },
    { name: 'SuppressionEdge', description: 'A suppression and its cursor.' },
  ),
}));

builder.mutationField('suppressAddress', (t) =>
  t.fieldWithInput({
    type: SuppressionNode,
    access: access.manage,
    description: 'Suppresses an address. If it is suppressed already, the existing suppression is returned unchanged.',
    input: {
      address: t.input.string({ required: true, description: 'The address, case-insensitive.' }),
      detail: t.input.string({ description: 'Your note, up to 500 characters.' }),
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
  description: 'A removed suppression.',
  fields: (t) => ({
    deletedId: t.exposeID('id', { description: 'The ID it had.' }),
    address: t.exposeString('address', { description: 'The address, which can receive mail again.' }),
  }),
});

builder.mutationField('removeSuppression', (t) =>
  t.fieldWithInput({
    type: RemoveSuppressionPayload,
    access: access.manage,
    description: 'Removes a suppression. The address receives mail again, until it bounces or its owner complains.',
    input: {
      idOrAddress: t.input.string({
        required: true,
        description: 'ID of the suppression, or the address, case-insensitive.',
      }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const lifted = await suppressions.liftSuppression(context.operations, input.idOrAddress);
      forgetLoaded(context);
      return lifted;
    },
  }),
);
