import { createElement, type SVGAttributes } from 'react';

/** The icons of Tabler Icons that pages show. */
const NAMES = `
  activity adjustments-horizontal alert-triangle api archive archive-off arrow-back-up arrow-down arrow-down-left
  arrow-fork arrow-forward-up arrow-left arrow-merge arrow-move-right arrow-up arrow-up-right arrows-join
  arrows-split at ban bell bolt book bookmark bookmark-filled braces brand-graphql building calendar calendar-clock
  check checks chevron-down chevron-up circle-check clock clock-pause code copy corner-up-left corner-up-left-double
  device-desktop device-mobile dots download exclamation-circle external-link eye eye-off file file-description
  file-search file-text fingerprint gauge help history inbox info-circle key keyboard layout-list list list-check
  lock logout mail mail-check mail-off mail-opened mail-question map-off message-reply moon paperclip pencil
  pencil-plus photo photo-off player-pause player-play player-stop player-track-next plug-connected plug-connected-x
  plus refresh repeat restore rotate-clockwise-2 search search-off send server-2 settings shield-check shield-half
  shield-off shield-question shield-x sun sun-moon tag terminal-2 trash user users webhook world world-off x
`;

type Words<Text extends string> = Text extends `${infer Line}\n${infer Rest}`
  ? Words<Line> | Words<Rest>
  : Text extends `${infer Word} ${infer Rest}`
    ? Word | Words<Rest>
    : Text;

/** Name of one of them. */
export type IconName = Exclude<Words<typeof NAMES>, ''>;

/** Their shapes by name, which the build puts here: see `icons` in vite.config.ts. */
const SHAPES: Partial<Record<IconName, string>> = {};

interface IconProps extends Omit<SVGAttributes<SVGSVGElement>, 'name' | 'stroke'> {
  name: IconName;
  /** width and height in pixels */
  size?: number;
  /** width of the lines, of the 24 units that an icon is wide */
  stroke?: number;
}

/** An icon. A long name beside it takes no room from it. Screen readers hear of it only if it has a label. */
export function Icon({ name, size = 24, stroke = 2, ...rest }: IconProps) {
  return createElement('svg', {
    viewBox: '0 0 24 24',
    width: size,
    height: size,
    fill: 'none',
    stroke: 'currentColor',
    strokeLinecap: 'round',
    strokeLinejoin: 'round',
    strokeWidth: stroke,
    'aria-hidden': rest['aria-label'] === undefined,
    ...rest,
    style: { flexShrink: 0, ...rest.style },
    // A constant of the build.
    dangerouslySetInnerHTML: { __html: SHAPES[name] ?? '' },
  });
}
