import { REFUSAL_REASONS, type RefusalAdvice, type RefusalReason } from '../../../core/sending/refusal-advice.ts';
import { builder, enumValues } from '../builder.ts';
import { addObjectType } from '../capability-shapes.ts';

const titles = Object.fromEntries(
  Object.entries(REFUSAL_REASONS).map(([reason, { title }]) => [reason, `${title}.`]),
) as Record<RefusalReason, string>;

const RefusalReasonEnum = builder.enumType('RefusalReason', {
  description: 'Why a server refused or deferred an email.',
  values: enumValues<RefusalReason>(titles),
});

const RefusalType = builder.enumType('RefusalType', {
  description: 'Whether the address can receive mail at all.',
  values: enumValues<RefusalAdvice['type']>({
    hard: 'The address can receive no mail.',
    soft: 'Refused or deferred for another reason.',
  }),
});

/** Why a server refused or deferred an email. */
export const Refusal = builder.objectRef<RefusalAdvice>('Refusal').implement({
  description: 'Why a server refused or deferred an email, in plain words.',
  fields: (t) => ({
    reason: t.expose('reason', { type: RefusalReasonEnum, description: 'The reason.' }),
    type: t.expose('type', { type: RefusalType, description: 'Whether the address can receive mail at all.' }),
    title: t.exposeString('title', { description: 'What happened.' }),
    advice: t.exposeString('advice', { description: 'What you can do, in one sentence.' }),
  }),
});

addObjectType('Refusal', Refusal);
