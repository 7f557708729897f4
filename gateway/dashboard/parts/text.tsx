import { Alert, Anchor, type AnchorProps, Badge, Text } from '@mantine/core';
import type { ComponentProps } from 'react';
import { Link } from 'wouter';

/** Text of rows, forms and cards. */
export const Small = Text.withProps({ size: 'sm' });
/** Emphasized text of that size. */
export const Strong = Text.withProps({ size: 'sm', fw: 600 });
/** Text of that size that explains what it is beside. */
export const Hint = Text.withProps({ size: 'sm', c: 'dimmed' });
/** The smallest text: times, counts, notes. */
export const Fine = Text.withProps({ size: 'xs', c: 'dimmed' });
/** What a thing is, in a word: a label, a kind, a role. */
export const Tag = Badge.withProps({ variant: 'default', radius: 'sm', fw: 600 });

type PageLinkProps = AnchorProps & Omit<ComponentProps<'a'>, 'color' | 'style' | 'href'> & { href: string };

/** Link to a page of the dashboard. */
export function PageLink(props: PageLinkProps) {
  return <Anchor component={Link} {...props} />;
}

/** Such a link in text of rows, forms and cards. */
export function SmallLink(props: PageLinkProps) {
  return <PageLink size="sm" {...props} />;
}

/** Such a link within a sentence, of the size of the text around it, and underlined: its color alone does not tell it from that. */
export function TextLink(props: PageLinkProps) {
  return <PageLink inherit underline="always" {...props} />;
}

/** Meaning of a status. Shown as a color in addition to the text. */
export type Tone = 'good' | 'waiting' | 'bad' | 'quiet' | 'warning';

const colors: Record<Tone, string> = { good: 'green', waiting: 'post.6', bad: 'red', quiet: 'gray', warning: 'orange' };

/** Shows a status, for example `DELIVERY_FAILED` as "delivery failed". */
export function StatusBadge({ status, tone }: { status: string; tone: Tone }) {
  return (
    <Badge color={colors[tone]} variant="dot" fw={600} radius="sm" style={{ flex: 'none' }}>
      {status.toLowerCase().replaceAll('_', ' ')}
    </Badge>
  );
}

/** What failed or is wrong. */
export const ErrorAlert = Alert.withProps({ color: 'red', variant: 'outline' });
/** What its reader should do something about. */
export const WarningAlert = Alert.withProps({ color: 'yellow', variant: 'outline' });
/** What may be harmful, or not as it seems. */
export const CautionAlert = Alert.withProps({ color: 'orange', variant: 'outline' });
