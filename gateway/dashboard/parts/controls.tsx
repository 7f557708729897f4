import { ActionIcon, type ActionIconProps, Button, type ButtonProps } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { Link } from 'wouter';
import type { Right } from '../../../core/accounts/rights.ts';
import { Icon, type IconName } from './icons.ts';

/** What a control is, apart from its look: its label, what it needs, and what it does. */
export interface ControlProps extends Omit<ComponentProps<'button'>, 'children' | 'color' | 'size' | 'style'> {
  /** rights without which it is hidden */
  needed?: NeededRight | readonly NeededRight[] | undefined;
  /** page that it leads to, or with `download` or `target` anything else */
  href?: string | undefined;
  download?: boolean | string;
  target?: '_blank';
  rel?: string;
}

/** Returns the properties of a Mantine component that make it this control. */
export function controlProps<Props extends ControlProps>({ needed, href, ...props }: Props): object {
  const isPage = props.download === undefined && props.target === undefined;
  return {
    ...(needed !== undefined && needs(...[needed].flat())),
    ...(href !== undefined && { href, component: isPage ? Link : 'a' }),
    ...props,
  };
}

type QuietButtonProps = ControlProps &
  Omit<ButtonProps, 'children'> & { label: ReactNode; icon?: IconName | undefined };

/** Button that is not the main one of its place. */
export function QuietButton({ label, icon, ...props }: QuietButtonProps) {
  return (
    <Button variant="default" leftSection={icon && <Icon name={icon} size={16} />} {...controlProps(props)}>
      {label}
    </Button>
  );
}

/** Button for what its place is for. */
export function MainButton(props: QuietButtonProps) {
  return <QuietButton variant="filled" {...props} />;
}

type IconButtonProps = ControlProps & ActionIconProps & { label: string; icon: IconName; iconSize?: number };

/** Button that is an icon. */
export function IconButton({ label, icon, iconSize = 18, ...props }: IconButtonProps) {
  return (
    <ActionIcon
      variant="subtle"
      aria-label={label}
      {...(props.variant === undefined && { color: 'gray' })}
      {...controlProps(props)}
    >
      <Icon name={icon} size={iconSize} />
    </ActionIcon>
  );
}

/** What a control can need: a right, or `everything` where members who are limited to domains or addresses may not use it. */
type Needed = Right | 'everything';

/** The rights that controls need. page.css has a rule for each. */
export const NEEDED = [
  'send',
  'organize',
  'notes',
  'approve',
  'keys',
  'endpoints',
  'domains',
  'policies',
  'retention',
  'imports',
  'remove',
  'members',
  'export',
  'workspaces',
  'everything',
] as const satisfies readonly Needed[];

/** One of them. */
export type NeededRight = (typeof NEEDED)[number];

/** Returns the attribute of a control that only members with all of these rights see. It is hidden from others, for the keyboard and screen readers, too. */
export function needs(...rights: readonly NeededRight[]): { 'data-needs': string } {
  return { 'data-needs': rights.join(' ') };
}
