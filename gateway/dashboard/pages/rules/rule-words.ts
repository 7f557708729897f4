import type { Rule } from './rule-documents.ts';

type Explicit = Extract<Rule['config'], { __typename: 'ExplicitGuardConfig' }>;
type Criterion = { operator: 'AND' | 'OR'; values: readonly string[] } | null;

/** Returns the criteria of a rule, one line each. */
export function criteriaInWords(config: Rule['config']): string[] {
  if (config.__typename === 'PromptGuardConfig') return [`the model answers yes to “${cut(config.prompt)}”`];
  return [
    ...phrase('the sender is', config.from, config.from?.isAligned === true ? ', verified by DMARC' : ''),
    ...phrase('it is for', config.to),
    ...phrase('the subject has', config.subject),
    ...phrase('subject or body have', config.hasWords),
    ...phrase('an attachment is', config.attachments),
    ...(config.hasAttachment === null ? [] : [config.hasAttachment ? 'it has an attachment' : 'it has no attachment']),
    ...results(config),
  ];
}

function phrase(begin: string, criterion: Criterion, end = ''): string[] {
  if (criterion === null) return [];
  const values = criterion.values.map((value) => `“${value}”`);
  const shown = values.slice(0, 4).join(criterion.operator === 'AND' ? ' and ' : ' or ');
  return [`${begin} ${shown}${values.length > 4 ? ` and ${values.length - 4} more` : ''}${end}`];
}

function results(config: Explicit): string[] {
  return (['spf', 'dkim', 'dmarc'] as const).flatMap((check) => {
    const wanted = config[check];
    return wanted === null
      ? []
      : [`${check.toUpperCase()} is ${wanted.map((result) => result.toLowerCase()).join(' or ')}`];
  });
}

/** Returns the action of a rule as text. */
export function actionInWords({ action, endpoint }: Pick<Rule, 'action' | 'endpoint'>): string {
  switch (action) {
    case 'ALLOW':
      return 'Allow';
    case 'BLOCK':
      return 'Hold';
    case 'ROUTE':
      return endpoint === null ? 'Route to a deleted endpoint' : `Route to ${endpoint.name}`;
  }
}

function cut(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
