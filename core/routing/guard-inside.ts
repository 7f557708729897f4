import { type GuardRule, type GuardVerdict, sortRules } from './guard-rule.ts';

/** Whether any of the rules that were asked for that verdict looks at what parsing a mail brings: bodies, attachments, verdicts on the sender. */
export function hasLookedInside(rules: readonly GuardRule[], verdict: GuardVerdict): boolean {
  const sorted = sortRules(rules);
  const decisive = verdict.kind === 'none' ? -1 : sorted.findIndex(({ id }) => id === verdict.rule.id);
  // A model would be asked in vain.
  const asked = decisive === -1 ? sorted : sorted.slice(0, verdict.kind === 'ask' ? decisive + 1 : decisive);
  return asked.some((rule) => {
    if (rule.type === 'ai_prompt') return true;
    const { from, hasWords, hasAttachment, attachments, spf, dkim, dmarc } = rule.config;
    return (
      from?.aligned === true ||
      [hasWords, hasAttachment, attachments, spf, dkim, dmarc].some((one) => one !== undefined)
    );
  });
}
