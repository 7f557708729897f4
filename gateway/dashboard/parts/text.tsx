import { Anchor, type AnchorProps, Badge, Text } from '@mantine/core';
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
export const Tag = Badge.withProps({ variant: 'default', radius: 'sm', tt: 'none', fw: 600 });

type PageLinkProps = AnchorProps & Omit<ComponentProps<'a'>, 'color' | 'style' | 'href'> & { href: string };

/** Link to a page of the dashboard. */
export function PageLink(props: PageLinkProps) {
  return <Anchor component={Link} {...props} />;
}

/** Such a link in text of rows, forms and cards. */
export function SmallLink(props: PageLinkProps) {
  return <PageLink size="sm" {...props} />;
}
